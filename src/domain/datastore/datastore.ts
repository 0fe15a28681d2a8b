import { type Aggregate, streamOf } from '../aggregate.ts'
import { refusal } from '../refusal.ts'
import { type DataStoreEvent, dataStoreEvents } from './events.ts'

type DataStore = { displayName: string; deleted: boolean }

/** All DataStores of an organization: one stream, since no two have one name. */
export type DataStores = { datastores: Readonly<Record<string, DataStore>> }

export const dataStores: Aggregate<DataStores, typeof dataStoreEvents> = {
  category: 'datastores',
  events: dataStoreEvents,
  initial: { datastores: {} },
  evolve: {
    DataStoreCreated: ({ datastores }, { datastoreId, displayName }) => ({
      datastores: { ...datastores, [datastoreId]: { displayName, deleted: false } },
    }),
    DataStoreDeleted: ({ datastores }, { datastoreId }) => {
      const { [datastoreId]: found, ...others } = datastores
      return found
        ? { datastores: { ...others, [datastoreId]: { ...found, deleted: true } } }
        : { datastores }
    },
    DataStoreCleared: ({ datastores }, { datastoreId }) => {
      const { [datastoreId]: _, ...others } = datastores
      return { datastores: others }
    },
  },
  weigh: ({ datastores }) => 200 * Object.keys(datastores).length,
}

/** The stream of an organization's DataStores: `datastores-<id>_<id>`. */
export const dataStoresStream = (organizationId: string) =>
  streamOf(dataStores, organizationId, organizationId)

const dataStoreIn = ({ datastores }: DataStores, id: string): DataStore | undefined =>
  Object.hasOwn(datastores, id) ? datastores[id] : undefined

/** @throws datastore_not_found */
export const requireDataStore =
  (datastoreId: string) =>
  (state: DataStores): DataStore => {
    const found = dataStoreIn(state, datastoreId)
    if (!found || found.deleted) throw refusal('datastore_not_found')
    return found
  }

/** Names that look the same are the same. */
const normalized = (name: string): string => name.normalize('NFKC').trim().toLowerCase()

/** A DataStore of that id is created once. @throws datastore_exists */
export const decideCreate =
  (data: DataStoreEvent<'DataStoreCreated'>['data']) =>
  (state: DataStores): DataStoreEvent<'DataStoreCreated'>[] => {
    const { datastoreId, displayName } = data
    if (dataStoreIn(state, datastoreId)) return []
    const taken = Object.entries(state.datastores).find(
      ([, one]) => !one.deleted && normalized(one.displayName) === normalized(displayName),
    )
    if (taken)
      throw refusal('datastore_exists', {
        message: `A DataStore with the display name '${displayName}' already exists`,
        existingDatastoreId: taken[0],
      })
    return [{ type: 'DataStoreCreated', data }]
  }

/** @throws datastore_not_found */
export const decideDelete =
  (datastoreId: string) =>
  (state: DataStores): DataStoreEvent<'DataStoreDeleted'>[] => {
    requireDataStore(datastoreId)(state)
    return [{ type: 'DataStoreDeleted', data: { datastoreId } }]
  }

/** Once every file of a deleted DataStore is removed. */
export const decideCleared =
  (datastoreId: string) =>
  (state: DataStores): DataStoreEvent<'DataStoreCleared'>[] =>
    dataStoreIn(state, datastoreId)?.deleted
      ? [{ type: 'DataStoreCleared', data: { datastoreId } }]
      : []
