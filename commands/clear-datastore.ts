import { despiteUnreadable } from '../src/domain/aggregate.ts'
import { dataStoresStream, decideCleared } from '../src/domain/datastore/datastore.ts'
import { decideRemoveAll, fileStream } from '../src/domain/file/file.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import { datastoreKey, type Vault } from '../src/security/vault.ts'
import { fileKey } from '../src/support/ids.ts'

type Place = { datastoreId: string; filename: string }

type Uses = Streams & { destroy: Vault['destroy'] }

/**
 * What follows the deletion of a DataStore: file by file, then the whole. Its key goes first, so
 * that a crash in between leaves documents that can be read nowhere, and are removed next.
 */
export const clearDatastore = ({ load, transact, destroy }: Uses) => ({
  removeFile: ({ datastoreId, filename }: Place, call: Call) =>
    transact(
      despiteUnreadable(fileStream(call.organizationId, fileKey(datastoreId, filename))),
      decideRemoveAll('datastore_deleted'),
      call,
    ),
  async cleared({ datastoreId }: Pick<Place, 'datastoreId'>, call: Call) {
    const stream = despiteUnreadable(dataStoresStream(call.organizationId))
    const decide = decideCleared(datastoreId)
    const isDeleted = decide((await load(stream)).state).length > 0
    if (isDeleted) await destroy(datastoreKey(call.organizationId, datastoreId))
    return transact(stream, decide, call)
  },
})
export type ClearDatastoreCommands = ReturnType<typeof clearDatastore>
