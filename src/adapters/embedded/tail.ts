import type { Position } from '../../domain/event.ts'
import type { RecordedEvent } from '../../ports/event-store.ts'
import { eventsOf } from './record.ts'

/**
 * A record, the position of its last event, and of the last event before it. `events` are those of
 * the record, where they need not be read from its text.
 */
export type TailRecord = {
  text: string
  events: RecordedEvent[] | undefined
  before: number
  last: number
}

/** Readers at the end of the log are given the events of so many records without a parse. */
const keptEvents = 512

/**
 * The most recent records, so that readers close to the end read nothing from disk. All
 * but the last are kept as text: many long-lived objects would cost the garbage collector time.
 */
export const recentTail = (maxChars: number) => {
  let kept: TailRecord[] = []
  let dropped = 0
  let chars = 0

  const indexAfter = (position: number): number => {
    let low = dropped
    let high = kept.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((kept[middle]?.last ?? Infinity) > position) high = middle
      else low = middle + 1
    }
    return low
  }

  return {
    push(record: TailRecord): void {
      const { events = [], last } = record
      for (const [n, event] of events.entries())
        event.position = (last - events.length + 1 + n) as Position
      kept.push(record)
      const older = kept[kept.length - 1 - keptEvents]
      if (older) older.events = undefined
      chars += record.text.length
      while (chars > maxChars && dropped < kept.length) {
        chars -= kept[dropped]?.text.length ?? 0
        dropped++
      }
      if (dropped > kept.length / 2) {
        kept = kept.slice(dropped)
        dropped = 0
      }
    },
    /** About `count` events after a position; undefined when they begin before these records. */
    after(position: number, count: number): RecordedEvent[] | undefined {
      const oldest = kept[dropped]
      if (!oldest || oldest.before > position) return undefined
      const events: RecordedEvent[] = []
      for (let n = indexAfter(position); n < kept.length && events.length < count; n++) {
        const record = kept[n]
        if (!record) break
        for (const event of record.events ?? eventsOf(record.text, record.last))
          if (event.position > position) events.push(event)
      }
      return events
    },
  }
}
