import { BACKWARDS, END, type EventStoreDBClient, StreamNotFoundError } from '@eventstore/db-client'
import { latest, type Position } from '../../domain/event.ts'
import { type RecordedEvent, START, StoreDamaged } from '../../ports/event-store.ts'
import { rangesOf } from '../position-ranges.ts'
import { backoff } from './backoff.ts'
import { batches, buffered } from './batches.ts'
import type { Clients } from './clients.ts'
import { isCutOff, isNoPosition } from './errors.ts'
import { fromPosition, placeOf, type Resolved } from './events.ts'
import type { Namespace } from './namespace.ts'
import type { OwnEvents } from './own-events.ts'

/** To read and drop so much costs about as much as to begin a read. */
const nearBytes = 32_768
/** No event of $all takes less. */
const leastBytes = 64

type Options = {
  clients: Clients
  namespace: Namespace
  ours: OwnEvents
  patienceMs: number
  closing: AbortSignal
}

/** Reads that go on after an outage from where they were. They throw the client's errors. */
export const reads = ({ clients, namespace, ours, patienceMs, closing }: Options) => {
  /** What one read after another gives, each begun where the last one was cut off. */
  async function* throughOutages<Item>(
    open: (client: EventStoreDBClient) => AsyncIterable<Item>,
  ): AsyncGenerator<Item, void> {
    const trying = backoff(patienceMs, closing)
    for (;;) {
      const client = clients.current()
      try {
        for await (const item of open(client)) {
          yield item
          trying.restart()
        }
        return
      } catch (error) {
        if (isCutOff(error)) clients.replace(client)
        await trying.wait(error)
      }
    }
  }

  async function* ofStream(
    stream: string,
    from: number,
    most: number,
  ): AsyncGenerator<RecordedEvent[], void> {
    const end = from + most
    let next = from
    const open = (client: EventStoreDBClient) => {
      const maxCount = end - next
      const options = {
        fromRevision: BigInt(next),
        ...(Number.isFinite(maxCount) ? { maxCount } : {}),
      }
      const source = client.readStream(namespace.onServer(stream), options, buffered)
      return batches<Resolved>(source, () => source.cancel(), closing)
    }
    try {
      for await (const batch of throughOutages(open)) {
        const revision = batch.at(-1)?.event?.revision
        if (revision !== undefined) next = Number(revision) + 1
        const events = ours(batch).filter((event) => event.revision < end)
        if (events.length > 0) yield events
        if (next >= end) return
      }
    } catch (error) {
      if (!(error instanceof StreamNotFoundError)) throw error
    }
  }

  /**
   * $all after one position and up to another, which is not before it. Where the server does not
   * read from the first, which may be a checkpoint, it is read from its beginning.
   */
  async function* between(after: Position, end: Position): AsyncGenerator<RecordedEvent[], void> {
    try {
      yield* fromTo(after, after, end)
    } catch (error) {
      if (!isNoPosition(error) || after === START) throw error
      yield* fromTo(START, after, end)
    }
  }

  async function* fromTo(
    start: Position,
    after: Position,
    end: Position,
  ): AsyncGenerator<RecordedEvent[], void> {
    let position = start
    const open = (client: EventStoreDBClient) => {
      const source = client.readAll({ fromPosition: fromPosition(position) }, buffered)
      return batches<Resolved>(source, () => source.cancel(), closing)
    }
    for await (const batch of throughOutages(open)) {
      const events = ours(batch).filter(
        (event) => event.position > latest(position, after) && event.position <= end,
      )
      position = latest(position, placeOf(batch.at(-1)))
      if (events.length > 0) yield events
      if (position >= end) return
    }
  }

  /** The events at these positions of one range, from its beginning. */
  async function* ofRange(range: readonly Position[]): AsyncGenerator<RecordedEvent[], void> {
    const last = range.at(-1) ?? START
    let next = 0
    const isNext = ({ position }: RecordedEvent) => {
      if (position !== range[next]) return false
      next++
      return true
    }
    const open = (client: EventStoreDBClient) => {
      const from = range[next] ?? last
      const maxCount = 1 + Math.ceil((last - from) / leastBytes)
      const source = client.readAll({ fromPosition: fromPosition(from), maxCount }, buffered)
      return batches<Resolved>(source, () => source.cancel(), closing)
    }
    while (next < range.length) {
      const first = next
      for await (const batch of throughOutages(open)) {
        const events = ours(batch).filter(isNext)
        if (events.length > 0) yield events
        if (placeOf(batch.at(-1)) >= (range[next] ?? START)) break
      }
      if (next === first) throw new StoreDamaged(`no event at position ${range[next]}`)
    }
  }

  /** The events at these positions, which increase. @throws StoreDamaged where there is none */
  async function* at(positions: readonly Position[]): AsyncGenerator<RecordedEvent[], void> {
    for (const range of rangesOf(positions, nearBytes))
      try {
        yield* ofRange(range)
      } catch (error) {
        if (!isNoPosition(error)) throw error
        throw new StoreDamaged(`not all positions from ${range[0]} on are those of events`)
      }
  }

  /** $all from its end back, in batches, down to the beginning or so many events. */
  const backwards = (maxCount = Number.MAX_SAFE_INTEGER) =>
    throughOutages((client) => {
      const source = client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount })
      return batches<Resolved>(source, () => source.cancel(), closing)
    })

  return { ofStream, between, at, backwards }
}

export type Reads = ReturnType<typeof reads>
