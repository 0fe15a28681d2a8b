import { type EventIndexView, eventIndex } from '../../projections/event-index.ts'
import { readHistory } from '../../queries/read-history.ts'
import { type EventStore, type RecordedEvent, START } from '../../src/ports/event-store.ts'
import type { View } from '../../src/ports/views.ts'
import { memoryProjectionStore } from '../../src/projector/memory-store.ts'
import { replay } from '../../src/projector/replay.ts'

const batch = 1_000

/** A log in memory that counts what is read of it. */
export const heldLog = (events: readonly RecordedEvent[]) => {
  const log = { read: 0 }
  const store: Pick<EventStore, 'history' | 'head' | 'read'> = {
    head: async () => events.at(-1)?.position ?? START,
    async *history(after, upTo = Infinity) {
      const asked = events.filter(({ position }) => position > after && position <= upTo)
      for (let n = 0; n < asked.length; n += batch) {
        const some = asked.slice(n, n + batch)
        log.read += some.length
        yield some
      }
    },
    async *read(stream, from = 0) {
      const some = events.filter((one) => one.stream === stream && one.revision >= from)
      log.read += some.length
      yield some
    },
  }
  return { ...store, log }
}

type Log = Pick<EventStore, 'history' | 'head'>

/** Where organizations' events are, as far as a part of the log tells. */
export const eventIndexOf = async (store: Log, upTo: number): Promise<View<EventIndexView>> => {
  const projectionStore = memoryProjectionStore(eventIndex)
  await replay({ store, projection: eventIndex, projectionStore, upTo })
  const view: Pick<View<EventIndexView>, 'find'> = {
    async find({ equals: [organizationId], from = 0, limit, descending, skip = 0 }) {
      const items = [...projectionStore.documents.values()]
        .map((document) => document as unknown as EventIndexView)
        .filter((one) => one.organization_id === organizationId && one.stretch >= Number(from))
        .sort((a, b) => (descending ? b.stretch - a.stretch : a.stretch - b.stretch))
      return { items: items.slice(skip, skip + limit), total: items.length }
    },
  }
  return view as View<EventIndexView>
}

/** Reads organizations' histories off a log, of which the index knows a part. */
export const historyOn = async (store: Log, upTo: number = Infinity) => {
  const eventIndex = await eventIndexOf(store, upTo)
  const indexed = Math.min(upTo, await store.head())
  return readHistory({ store, eventIndex, indexed: () => indexed })
}
