import { join } from 'node:path'
import { v4 as uuid } from 'uuid'
import { embeddedEventStore } from '../../src/adapters/embedded/event-store.ts'
import { openLog } from '../../src/adapters/embedded/log.ts'
import { eventStoreDbEventStore } from '../../src/adapters/eventstoredb/event-store.ts'
import { eventsByCategory } from '../../src/domain/categories.ts'
import { schemaVersionOf } from '../../src/domain/versions.ts'
import { type EventStore, type RecordedEvent, START } from '../../src/ports/event-store.ts'

/** The log of a stopped server, as its release stores events: without any check. */
export const withLog = async <Result>(
  env: { DATA_DIR: string; EVENTSTORE_URL?: string },
  work: (store: EventStore) => Promise<Result>,
): Promise<Result> => {
  if (env.EVENTSTORE_URL) {
    const store = eventStoreDbEventStore({ url: env.EVENTSTORE_URL, namespace: 'reprise' })
    return work(store).finally(() => store.close())
  }
  const log = await openLog({ path: join(env.DATA_DIR, 'log') })
  return work(embeddedEventStore(log)).finally(() => log.close())
}

export const allEvents = async (store: EventStore): Promise<RecordedEvent[]> => {
  const events: RecordedEvent[] = []
  for await (const batch of store.history(START)) events.push(...batch)
  return events
}

const categoryOf = (stream: string): string => stream.slice(0, stream.indexOf('-'))

/** An event of the same stream with data that no schema takes. */
export const plant = (store: EventStore, like: RecordedEvent, type: string, data: unknown = null) =>
  store.append(like.stream, 'any', [
    {
      id: uuid(),
      type,
      data,
      metadata: { ...like.metadata, schema_version: schemaVersionOf(type) },
    },
  ])

/** One unreadable event of each type, each in a stream of its category that is chosen; how many. */
export const plantEach = async (
  store: EventStore,
  isChosen: (event: RecordedEvent) => boolean,
): Promise<number> => {
  const byCategory = new Map<string, RecordedEvent>()
  for (const event of await allEvents(store))
    if (isChosen(event)) byCategory.set(categoryOf(event.stream), event)
  let planted = 0
  for (const [category, table] of Object.entries(eventsByCategory)) {
    const like = byCategory.get(category)
    if (!like) continue
    for (const type of Object.keys(table)) {
      await plant(store, like, type)
      planted++
    }
  }
  return planted
}
