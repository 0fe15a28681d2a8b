import { setImmediate } from 'node:timers/promises'
import { earliest, type Position } from '../../domain/event.ts'
import {
  type Appended,
  AppendTooLarge,
  type EventStore,
  type ExpectedRevision,
  MAX_APPEND_BYTES,
  type NewEvent,
} from '../../ports/event-store.ts'
import { condition } from './condition.ts'
import { eventsAt } from './events-at.ts'
import { streamKey } from './index-key.ts'
import { assertName, type EventLog } from './log.ts'
import { placeOf } from './placement.ts'
import { logReader } from './reader.ts'
import { appendBytes, type NewRecord, placed, recordAt, recordOf } from './record.ts'
import { streamEnds } from './stream-ends.ts'
import { recentTail } from './tail.ts'

const batchEvents = 1_000
const tailBytes = 8 * 1024 * 1024

type Options = {
  /** Positions that are left out before every append: shows readers that compute with positions. */
  gap?: number
}

const recordsOf = (records: readonly NewRecord[], stream: string): NewRecord[] =>
  records.filter((record) => record.stream === stream)

/**
 * Events in a log of this process alone. Positions count from 0. An append with `any` looks through
 * its stream for the first id, so it costs more on a long stream.
 */
export const embeddedEventStore = (log: EventLog, { gap = 0 }: Options = {}): EventStore => {
  const reader = logReader(log)
  const tail = recentTail(tailBytes)
  /** How far the feeds have come. */
  const feeds: { position: Position }[] = []
  const lastRevisions = streamEnds(reader)
  const headMoved = condition()
  let head = log.look(reader.head)
  /** The head once the current transaction is on disk, and its records. */
  let nextHead = head
  let nextRecords: NewRecord[] = []
  const inStream = { reader, pending: (stream: string) => recordsOf(nextRecords, stream) }
  let closed = false

  log.watch({
    committed() {
      if (nextHead === head) return
      // What all of them have read would only be carried along by the garbage collector.
      tail.passed(Math.min(...feeds.map(({ position }) => position)))
      for (const record of nextRecords) tail.push(record)
      nextRecords = []
      head = nextHead
      headMoved.notifyAll()
    },
    failed() {
      nextRecords = []
      nextHead = head
      lastRevisions.clear()
    },
    closed() {
      closed = true
      headMoved.notifyAll()
    },
  })

  const appended = (
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
  ): Promise<Appended> => {
    if (events.length === 0) throw new TypeError('an append without events')
    assertName(stream)
    const sent = recordOf(stream, expected === 'any' ? 0 : expected + 1, events)
    const bytes = appendBytes(sent, events)
    if (bytes > MAX_APPEND_BYTES)
      throw new AppendTooLarge(`${bytes} bytes of at most ${MAX_APPEND_BYTES}`)
    const count = events.length
    const prepare = () => {
      const place = placeOf(inStream, sent, expected, lastRevisions.of(stream))
      if (typeof place !== 'number') return () => place
      const revision = place + count - 1
      const key = streamKey(stream, revision)
      return () => {
        const position = (nextHead + gap + count) as Position
        void log.streams.put(key, position)
        const record = placed(recordAt(sent, place), nextHead, position)
        void log.records.put(position, record.bytes as unknown as string)
        lastRevisions.written(stream, revision)
        nextRecords.push(record)
        nextHead = position
        return { revision, position }
      }
    }
    return log.write({ bytes: sent.bytes.length, prepare })
  }

  const append: EventStore['append'] = (stream, expected, events) => {
    try {
      return appended(stream, expected, events)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  const read: EventStore['read'] = async function* (stream, from = 0, most = Infinity) {
    const end = from + most
    for (let next = from; next < end; ) {
      const events = log.look(() => reader.slice(stream, next, end - next))
      const last = events.at(-1)
      if (!last) {
        // The end of the stream is known now, so the next append need not look for it.
        if ((next > from || from === 0) && !lastRevisions.has(stream))
          lastRevisions.set(stream, next - 1)
        return
      }
      yield events
      next = last.revision + 1
      await setImmediate()
    }
  }

  const pages = async function* (after: Position, upTo: Position) {
    for (let position = after; position < upTo; ) {
      const events = log.look(() => reader.page(position, upTo))
      if (events.length > 0) yield events
      position = events.at(-1)?.position ?? upTo
      await setImmediate()
    }
  }

  const feed: EventStore['feed'] = async function* (after, signal) {
    const waiter = headMoved.waiter(signal)
    const own = { position: after }
    feeds.push(own)
    try {
      while (!closed && !signal?.aborted) {
        const recent = tail.after(own.position, batchEvents)
        const events = recent ?? log.look(() => reader.page(own.position, head))
        const last = events.at(-1)
        if (!last) {
          await waiter.wait()
          continue
        }
        yield { events, position: last.position }
        own.position = last.position
        if (!recent) await setImmediate()
      }
    } finally {
      feeds.splice(feeds.indexOf(own), 1)
      waiter.end()
    }
  }

  return {
    append,
    read,
    history: (after, upTo = head) => pages(after, earliest(upTo, head)),
    at: eventsAt({ pages, event: (position) => log.look(() => reader.event(position)) }),
    feed,
    distance: (from, to) => ({ amount: Math.max(0, to - from), unit: 'events' }),
    head: async () => head,
    end: async () => head,
    close: log.close,
  }
}
