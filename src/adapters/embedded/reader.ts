import type { Position } from '../../domain/event.ts'
import { type RecordedEvent, START } from '../../ports/event-store.ts'
import { streamKey } from './index-key.ts'
import type { EventLog } from './log.ts'
import { eventsOf } from './record.ts'

const batchEvents = 1_000
const batchChars = 4 * 1024 * 1024

/** Reads of the log as it is on disk, or as the current transaction has left it. */
export const logReader = ({
  records,
  streams,
  damagedAt,
}: Pick<EventLog, 'records' | 'streams' | 'damagedAt'>) => {
  const soundText = (position: number, text: string | undefined): string => {
    if (text === undefined) throw damagedAt(position)
    return text
  }

  const textAt = (position: number): string => soundText(position, records.get(position))

  /** @throws StoreDamaged where the index leads to another stream */
  function* placesOf(stream: string, from: number) {
    const start = `[${JSON.stringify(stream)},`
    for (const { value: position } of streams.getRange(streamFrom(stream, from))) {
      const text = textAt(position)
      if (!text.startsWith(start)) throw damagedAt(position)
      yield { position, text }
    }
  }

  /** Takes records until they make a batch. */
  const batch = () => {
    const events: RecordedEvent[] = []
    let chars = 0
    return {
      events,
      /** True once it is full. */
      add(text: string, position: number): boolean {
        for (const event of eventsOf(text, position)) events.push(event)
        chars += text.length
        return events.length >= batchEvents || chars > batchChars
      },
    }
  }

  const streamFrom = (stream: string, from: number) => ({
    start: streamKey(stream, from),
    end: streamKey(stream, Infinity),
  })

  const streamBackwards = (stream: string) => ({
    start: streamKey(stream, Infinity),
    end: streamKey(stream, START),
    reverse: true,
  })

  return {
    /** The position of the last event. */
    head: (): Position =>
      ([...records.getKeys({ reverse: true, limit: 1 })][0] as Position) ?? START,

    /** The revision of a stream's last event. */
    revision(stream: string): number {
      const [last] = streams.getKeys({ ...streamBackwards(stream), limit: 1 })
      return last?.[1] ?? START
    },

    /** The names of the streams on both sides of one that is not there, as their keys begin. */
    nextTo(stream: string): { after: string; before: string | undefined } {
      const place = streamKey(stream, START)
      const [after] = streams.getKeys({ start: place, reverse: true, limit: 1 })
      const [before] = streams.getKeys({ start: place, limit: 1 })
      return { after: after?.[0] ?? '', before: before?.[0] }
    },

    /** A batch of a stream, from a revision on, of at most so many events. */
    slice(stream: string, from: number, most = Infinity): RecordedEvent[] {
      const { events, add } = batch()
      const isEnough = () => (events.at(-1)?.revision ?? -1) >= from + most - 1
      for (const { position, text } of placesOf(stream, from)) {
        const before = events.at(-1)?.revision
        const at = events.length
        const isFull = add(text, position)
        const first = events[at]?.revision ?? from
        // Revisions have no gap: where one is missing, the index is damaged.
        if (before === undefined ? first > from : first !== before + 1) throw damagedAt(position)
        if (isFull || isEnough()) break
      }
      const first = from - (events[0]?.revision ?? from)
      return events.slice(first, first + most)
    },

    /** The event at a position, which need not be the last of its record. */
    event(position: number): RecordedEvent | undefined {
      const [record] = records.getRange({ start: position, limit: 1 })
      if (!record) return undefined
      const events = eventsOf(soundText(record.key, record.value), record.key)
      return events.find((event) => event.position === position)
    },

    /** A batch of the whole log, after one position and up to another. */
    page(after: number, upTo: number): RecordedEvent[] {
      if (after >= upTo) return []
      const { events, add } = batch()
      for (const { key, value } of records.getRange({ start: after + 1 })) {
        const before = events.at(-1)?.position
        const at = events.length
        const isFull = add(soundText(key, value), key)
        if (before !== undefined && (events[at]?.position ?? key) <= before) throw damagedAt(key)
        if (isFull || key >= upTo) break
      }
      // Records are keyed by their last event: the first and the last may exceed the range.
      const isWithin = ({ position }: RecordedEvent) => position > after && position <= upTo
      const [first] = events
      const last = events.at(-1)
      return first && last && isWithin(first) && isWithin(last) ? events : events.filter(isWithin)
    },

    /** The revision of the last event of a stream with this id. Reads all events after it. */
    find(stream: string, id: string): number | undefined {
      const quoted = JSON.stringify(id)
      for (const { value } of streams.getRange(streamBackwards(stream))) {
        const text = textAt(value)
        const event = text.includes(quoted) && eventsOf(text, value).findLast((e) => e.id === id)
        if (event) return event.revision
      }
      return undefined
    },
  }
}

export type LogReader = ReturnType<typeof logReader>
