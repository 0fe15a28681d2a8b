import { type EventIndexView, eventIndex } from '../../projections/event-index.ts'
import { readHistory } from '../../queries/read-history.ts'
import { readHistoryDescending } from '../../queries/read-history-descending.ts'
import type { Position } from '../../src/domain/event.ts'
import {
  type EventStore,
  type RecordedEvent,
  START,
  StoreDamaged,
} from '../../src/ports/event-store.ts'
import type { Document, View } from '../../src/ports/views.ts'
import { memoryProjectionStore } from '../../src/projector/memory-store.ts'
import { replay } from '../../src/projector/replay.ts'
import { at } from './positions.ts'
import { model } from './views-model.ts'

const batch = 1_000

/**
 * A log in memory that counts the events read from it. Like EventStoreDB, it reads only from
 * positions of events.
 */
export const heldLog = (events: readonly RecordedEvent[]) => {
  const log = { read: 0 }
  const places = new Map(events.map((event, n) => [event.position, n]))
  const placeOf = (position: Position): number => {
    const place = places.get(position)
    if (place === undefined) throw new StoreDamaged(`no event at position ${position}`)
    return place
  }
  const store: Pick<EventStore, 'at' | 'history' | 'head' | 'read'> = {
    head: async () => events.at(-1)?.position ?? START,
    async *history(after, upTo) {
      const rest = events.slice(after === START ? 0 : placeOf(after) + 1)
      const past = rest.findIndex(({ position }) => upTo !== undefined && position > upTo)
      const range = past < 0 ? rest : rest.slice(0, past)
      for (let n = 0; n < range.length; n += batch) {
        const some = range.slice(n, n + batch)
        log.read += some.length
        yield some
      }
    },
    async *at(positions) {
      for await (const wanted of positions) {
        const some = wanted.flatMap((position) => events[placeOf(position)] ?? [])
        log.read += some.length
        yield some
      }
    },
    async *read(stream, from = 0) {
      const some = events.filter((event) => event.stream === stream && event.revision >= from)
      log.read += some.length
      yield some
    },
  }
  return { ...store, log }
}

type Log = Pick<EventStore, 'at' | 'history' | 'head'>

/** The event index of which these are the documents. */
export const indexIn = (documents: ReadonlyMap<string, Document>): View<EventIndexView> => {
  const plain = model(eventIndex)
  plain.commit([...documents].map(([id, document]) => ({ id, document })))
  const view = {
    get: async (id: string) => plain.everything()[id],
    find: async (query: Parameters<typeof plain.find>[0]) => plain.find(query),
  }
  return view as unknown as View<EventIndexView>
}

/** Where organizations' events are, as far as a part of the log tells, and how far that is. */
export const eventIndexOf = async (store: Pick<Log, 'history'>, upTo?: number) => {
  const projectionStore = memoryProjectionStore(eventIndex)
  const end = upTo === undefined ? {} : { upTo: at(upTo) }
  const { position } = await replay({ store, projection: eventIndex, projectionStore, ...end })
  return { eventIndex: indexIn(projectionStore.documents), indexed: () => position }
}

/** Reads organizations' histories off a log, of which the index knows a part. */
export const historyOn = async (store: Log, upTo?: number) =>
  readHistory({ store, ...(await eventIndexOf(store, upTo)) })

/** The same, the newest first. */
export const descendingOn = async (store: Log, upTo?: number) =>
  readHistoryDescending({ store, ...(await eventIndexOf(store, upTo)) })
