import { despiteUnreadable } from '../src/domain/aggregate.ts'
import { dataStoresStream, decideCleared } from '../src/domain/datastore/datastore.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import { datastoreKey, type Vault } from '../src/security/vault.ts'

type Uses = Streams & { destroy: Vault['destroy'] }

/**
 * Ends the deletion of a DataStore whose files are removed. Its data key is destroyed first: after
 * a crash in between, no remaining document can be read.
 */
export const clearDatastore =
  ({ load, transact, destroy }: Uses) =>
  async ({ datastoreId }: { datastoreId: string }, call: Call) => {
    const stream = despiteUnreadable(dataStoresStream(call.organizationId))
    const decide = decideCleared(datastoreId)
    const isDeleted = decide((await load(stream)).state).length > 0
    if (isDeleted) await destroy(datastoreKey(call.organizationId, datastoreId))
    return transact(stream, decide, call)
  }
export type ClearDatastoreCommand = ReturnType<typeof clearDatastore>
