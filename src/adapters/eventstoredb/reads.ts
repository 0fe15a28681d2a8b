import { BACKWARDS, END, type EventStoreDBClient, StreamNotFoundError } from '@eventstore/db-client'
import type { RecordedEvent } from '../../ports/event-store.ts'
import { batches, buffered } from './batches.ts'
import type { Clients } from './clients.ts'
import { isCutOff } from './errors.ts'
import { fromPosition, placeOf, type Resolved } from './events.ts'
import type { Namespace } from './namespace.ts'
import { patience } from './patience.ts'
import type { Sieve } from './strangers.ts'

type Options = {
  clients: Clients
  namespace: Namespace
  ours: Sieve
  patienceMs: number
  closing: AbortSignal
}

/** Reads that go on after an outage from where they were. They throw the client's errors. */
export const reads = ({ clients, namespace, ours, patienceMs, closing }: Options) => {
  /** What one read after another gives, each begun where the last one was cut off. */
  async function* throughOutages<Item>(
    begin: (client: EventStoreDBClient) => AsyncIterable<Item>,
  ): AsyncGenerator<Item, void> {
    const trying = patience(patienceMs, closing)
    for (;;) {
      const client = clients.current()
      try {
        for await (const item of begin(client)) {
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

  async function* ofStream(stream: string, from: number): AsyncGenerator<RecordedEvent[], void> {
    let next = from
    const begin = (client: EventStoreDBClient) => {
      const asked = { fromRevision: BigInt(next) }
      const source = client.readStream(namespace.onServer(stream), asked, buffered)
      return batches<Resolved>(source, () => source.cancel(), closing)
    }
    try {
      for await (const batch of throughOutages(begin)) {
        const revision = batch.at(-1)?.event?.revision
        if (revision !== undefined) next = Number(revision) + 1
        const events = ours(batch)
        if (events.length > 0) yield events
      }
    } catch (error) {
      if (!(error instanceof StreamNotFoundError)) throw error
    }
  }

  /** $all after one position and up to another, which is not before it. */
  async function* between(after: number, end: number): AsyncGenerator<RecordedEvent[], void> {
    let position = after
    const begin = (client: EventStoreDBClient) => {
      const source = client.readAll({ fromPosition: fromPosition(position) }, buffered)
      return batches<Resolved>(source, () => source.cancel(), closing)
    }
    for await (const batch of throughOutages(begin)) {
      const events = ours(batch).filter(
        (event) => event.position > position && event.position <= end,
      )
      position = Math.max(position, placeOf(batch.at(-1)))
      if (events.length > 0) yield events
      if (position >= end) return
    }
  }

  /** $all from its end back, in batches, down to the beginning or so many events. */
  const backwards = (maxCount = Number.MAX_SAFE_INTEGER) =>
    throughOutages((client) => {
      const source = client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount })
      return batches<Resolved>(source, () => source.cancel(), closing)
    })

  return { ofStream, between, backwards }
}

export type Reads = ReturnType<typeof reads>
