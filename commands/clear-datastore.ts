import { dataStoresStream, decideCleared } from '../src/domain/datastore/datastore.ts'
import { decideRemoveAll, fileStream } from '../src/domain/file/file.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import { fileKey } from '../src/support/ids.ts'

type Place = { datastoreId: string; filename: string }

/** What follows the deletion of a DataStore: file by file, then the whole. */
export const clearDatastore = (transact: Transact) => ({
  removeFile: ({ datastoreId, filename }: Place, call: Call) =>
    transact(
      fileStream(call.organizationId, fileKey(datastoreId, filename)),
      decideRemoveAll('datastore_deleted'),
      call,
    ),
  cleared: ({ datastoreId }: Pick<Place, 'datastoreId'>, call: Call) =>
    transact(dataStoresStream(call.organizationId), decideCleared(datastoreId), call),
})
export type ClearDatastoreCommands = ReturnType<typeof clearDatastore>
