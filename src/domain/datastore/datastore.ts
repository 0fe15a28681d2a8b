import { type Aggregate, streamOf } from '../aggregate.ts'
import { refusal } from '../refusal.ts'
import { type DataStoreEvent, dataStoreEvents } from './events.ts'

type DataStore = {
  displayName: string
  deleted: boolean
  /** File names of uploads that are begun and not known to be finished, by upload. */
  unfinished: Readonly<Record<string, string>>
}

/** All DataStores of an organization: one stream, since no two have one name. */
export type DataStores = { datastores: Readonly<Record<string, DataStore>> }

const withUnfinished = (
  { datastores }: DataStores,
  datastoreId: string,
  change: (unfinished: DataStore['unfinished']) => DataStore['unfinished'],
): DataStores => {
  const { [datastoreId]: datastore, ...others } = datastores
  if (!datastore) return { datastores }
  const unfinished = change(datastore.unfinished)
  return { datastores: { ...others, [datastoreId]: { ...datastore, unfinished } } }
}

export const dataStores: Aggregate<DataStores, typeof dataStoreEvents> = {
  category: 'datastores',
  events: dataStoreEvents,
  initial: { datastores: {} },
  evolve: {
    DataStoreCreated: ({ datastores }, { datastoreId, displayName }) => ({
      datastores: { ...datastores, [datastoreId]: { displayName, deleted: false, unfinished: {} } },
    }),
    UploadsBegun: (state, { datastoreId, uploads }) =>
      withUnfinished(state, datastoreId, (unfinished) => ({
        ...unfinished,
        ...Object.fromEntries(uploads.map(({ uploadId, filename }) => [uploadId, filename])),
      })),
    UploadsFinished: (state, { datastoreId, uploadIds }) =>
      withUnfinished(state, datastoreId, (unfinished) =>
        Object.fromEntries(Object.entries(unfinished).filter(([id]) => !uploadIds.includes(id))),
      ),
    DataStoreDeleted: ({ datastores }, { datastoreId }) => {
      const { [datastoreId]: datastore, ...others } = datastores
      return datastore
        ? { datastores: { ...others, [datastoreId]: { ...datastore, deleted: true } } }
        : { datastores }
    },
    DataStoreCleared: ({ datastores }, { datastoreId }) => {
      const { [datastoreId]: _, ...others } = datastores
      return { datastores: others }
    },
  },
  weigh: ({ datastores }) =>
    Object.values(datastores).reduce(
      (sum, { unfinished }) => sum + 200 + 100 * Object.keys(unfinished).length,
      0,
    ),
  stateVersion: 2,
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
    const datastore = dataStoreIn(state, datastoreId)
    if (!datastore || datastore.deleted) throw refusal('datastore_not_found')
    return datastore
  }

/** Names that look the same are the same. */
const normalized = (name: string): string => name.normalize('NFKC').trim().toLowerCase()

/** A DataStore of that id is created once. @throws datastore_exists */
export const decideCreate =
  (data: DataStoreEvent<'DataStoreCreated'>['data']) =>
  (state: DataStores): DataStoreEvent<'DataStoreCreated'>[] => {
    const { datastoreId, displayName } = data
    if (dataStoreIn(state, datastoreId)) return []
    const namesake = Object.entries(state.datastores).find(
      ([, datastore]) =>
        !datastore.deleted && normalized(datastore.displayName) === normalized(displayName),
    )
    if (namesake)
      throw refusal('datastore_exists', {
        message: `A DataStore with the display name '${displayName}' already exists`,
        existingDatastoreId: namesake[0],
      })
    return [{ type: 'DataStoreCreated', data }]
  }

/** Upload ids are begun once. @throws datastore_not_found */
export const decideBeginUploads =
  ({ datastoreId, uploads }: DataStoreEvent<'UploadsBegun'>['data']) =>
  (state: DataStores): DataStoreEvent<'UploadsBegun'>[] => {
    const { unfinished } = requireDataStore(datastoreId)(state)
    const added = uploads.filter(({ uploadId }) => !Object.hasOwn(unfinished, uploadId))
    return added.length > 0 ? [{ type: 'UploadsBegun', data: { datastoreId, uploads: added } }] : []
  }

/** Only those that are unfinished. */
export const decideFinishUploads =
  ({ datastoreId, uploadIds }: DataStoreEvent<'UploadsFinished'>['data']) =>
  (state: DataStores): DataStoreEvent<'UploadsFinished'>[] => {
    const unfinished = dataStoreIn(state, datastoreId)?.unfinished ?? {}
    const finished = uploadIds.filter((id) => Object.hasOwn(unfinished, id))
    return finished.length > 0
      ? [{ type: 'UploadsFinished', data: { datastoreId, uploadIds: finished } }]
      : []
  }

/** What other streams say of a DataStore that is to be deleted. */
export type Deletion = {
  datastoreId: string
  /** Also while it is in use. */
  force: boolean
  /** Active agents that answer from it. */
  agents: readonly { agentId: string; name: string }[]
  /**
   * Uploads marked unfinished here that have ended in their file's stream, or never began in it: a
   * crash came between the two streams.
   */
  over: readonly string[]
}

/** Agents that answer from it, and uploads that are under way, use it. */
const requireUnused = ({ unfinished }: DataStore, { agents, over }: Deletion): void => {
  const underWay = Object.keys(unfinished).filter((id) => !over.includes(id)).length
  if (agents.length > 0)
    throw refusal('datastore_in_use', {
      message: `The DataStore is in use by: ${agents.map(({ name }) => name).join(', ')}`,
      agents,
    })
  if (underWay > 0)
    throw refusal('datastore_in_use', {
      message: `The DataStore has ${underWay} unfinished uploads`,
      agents,
    })
}

/** @throws datastore_not_found, datastore_in_use */
export const decideDelete =
  (deletion: Deletion) =>
  (state: DataStores): DataStoreEvent<'DataStoreDeleted'>[] => {
    const { datastoreId, force } = deletion
    const datastore = requireDataStore(datastoreId)(state)
    if (!force) requireUnused(datastore, deletion)
    return [{ type: 'DataStoreDeleted', data: { datastoreId } }]
  }

/** Once every file of a deleted DataStore is removed. */
export const decideCleared =
  (datastoreId: string) =>
  (state: DataStores): DataStoreEvent<'DataStoreCleared'>[] =>
    dataStoreIn(state, datastoreId)?.deleted
      ? [{ type: 'DataStoreCleared', data: { datastoreId } }]
      : []
