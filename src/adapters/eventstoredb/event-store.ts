import { setMaxListeners } from 'node:events'
import {
  ANY,
  BACKWARDS,
  DeadlineExceededError,
  END,
  EventStoreDBClient,
  NO_STREAM,
  StreamNotFoundError,
} from '@eventstore/db-client'
import {
  type Appended,
  type EventStore,
  type ExpectedRevision,
  START,
  StoreDamaged,
  StoreUnavailable,
} from '../../ports/event-store.ts'
import { batches, buffered } from './batches.ts'
import { isCutOff, portError } from './errors.ts'
import { fromPosition, isSystem, positionOf, recorded, sendable } from './events.ts'
import { type OnDropped, resubscribing } from './feed.ts'
import { lanes, within } from './lanes.ts'

/**
 * Appends under way at once. The client throws where nobody can catch it when its connection dies
 * while more messages wait to be written than a stream takes without back-pressure (16).
 */
const inFlight = 12

type Options = {
  /** `esdb://127.0.0.1:2113?tls=false`; `esdb+discover://…` for a cluster. */
  url: string
  onDropped?: OnDropped
  /** How long an append may stay without an answer. Longer than the client's keep-alive (20 s). */
  timeoutMs?: number
}

const revisionOf = (expected: ExpectedRevision) => {
  if (expected === 'any') return ANY
  return expected === START ? NO_STREAM : BigInt(expected)
}

/**
 * EventStoreDB over gRPC. One per process: the client keeps the appends under way in a table of the
 * module, and one whose connection ends fails those of all.
 * @throws TypeError when the URL is none, or turns `throwOnAppendFailure` off: the client then
 * reports conflicts wrongly.
 */
export const eventStoreDbEventStore = (options: Options): EventStore => {
  const { url, onDropped, timeoutMs = 30_000 } = options
  if (/throwOnAppendFailure=false/i.test(url))
    throw new TypeError('EventStoreDB: throwOnAppendFailure must not be turned off')
  // A client each: one that loses a subscription abandons its channel, and with it the stream that
  // carries the appends under way.
  const writes = EventStoreDBClient.connectionString(url)
  const reads = EventStoreDBClient.connectionString(url)
  const writing = lanes(inFlight)
  const closing = new AbortController()
  setMaxListeners(0, closing.signal)
  let closed: Promise<unknown> | undefined

  const mustBeOpen = () => {
    if (closing.signal.aborted) throw new StoreUnavailable('EventStoreDB: the store is closed')
  }

  const send = async (...[stream, expectedRevision, events]: Sending): Promise<Appended> => {
    mustBeOpen()
    const { nextExpectedRevision, position } = await within(
      timeoutMs,
      writes.appendToStream(stream, events, { expectedRevision }),
      () => new DeadlineExceededError(undefined, `no answer to an append within ${timeoutMs} ms`),
    )
    if (!position) throw new StoreDamaged('EventStoreDB: an append was answered without a position')
    return { revision: Number(nextExpectedRevision), position: positionOf(position) }
  }
  type Sending = [string, ReturnType<typeof revisionOf>, ReturnType<typeof sendable>]

  const append: EventStore['append'] = async (stream, expected, events) => {
    const sending: Sending = [stream, revisionOf(expected), sendable(stream, events)]
    try {
      return await writing.run(() =>
        // Cut off, nobody knows whether it is stored. The same ids again settle it.
        send(...sending).catch((error) =>
          isCutOff(error) ? send(...sending) : Promise.reject(error),
        ),
      )
    } catch (error) {
      const said = portError(error)
      if (said instanceof StoreUnavailable) writing.clear(said)
      throw said
    }
  }

  async function* read(stream: string, from = 0) {
    try {
      mustBeOpen()
      const source = reads.readStream(stream, { fromRevision: BigInt(from) }, buffered)
      for await (const batch of batches(source, () => source.cancel(), closing.signal))
        yield batch.map(recorded)
    } catch (error) {
      if (!(error instanceof StreamNotFoundError)) throw portError(error)
    }
  }

  const head = async (): Promise<number> => {
    try {
      mustBeOpen()
      const source = reads.readAll({ direction: BACKWARDS, fromPosition: END })
      for await (const batch of batches(source, () => source.cancel(), closing.signal)) {
        const last = batch.find((event) => !isSystem(event))
        if (last) return recorded(last).position
      }
      return START
    } catch (error) {
      throw portError(error)
    }
  }

  async function* history(after: number, upTo?: number) {
    const end = upTo ?? (await head())
    if (end <= after) return
    try {
      const source = reads.readAll({ fromPosition: fromPosition(after) }, buffered)
      for await (const batch of batches(source, () => source.cancel(), closing.signal)) {
        const events = batch.filter((event) => !isSystem(event)).map(recorded)
        const asked = events.filter(({ position }) => position > after && position <= end)
        if (asked.length > 0) yield asked
        if ((events.at(-1)?.position ?? START) >= end) return
      }
    } catch (error) {
      throw portError(error)
    }
  }

  const close = async (): Promise<void> => {
    closing.abort()
    closed ??= Promise.all([writes.dispose(), reads.dispose()])
    await closed
  }

  const feed: EventStore['feed'] = (after, signal) => {
    const ending = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal
    return resubscribing(reads, after, ending, onDropped)
  }

  return { append, read, history, feed, head, close }
}
