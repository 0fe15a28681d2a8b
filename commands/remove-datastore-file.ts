import { despiteUnreadable } from '../src/domain/aggregate.ts'
import { decideRemoveAll, fileStream } from '../src/domain/file/file.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import { fileKey } from '../src/support/ids.ts'

export type RemoveDatastoreFile = { datastoreId: string; filename: string }

/** Removes every upload of a file because its DataStore is deleted. */
export const removeDatastoreFile =
  ({ transact }: { transact: Transact }) =>
  ({ datastoreId, filename }: RemoveDatastoreFile, call: Call) => {
    const stream = fileStream(call.organizationId, fileKey(datastoreId, filename))
    return transact(despiteUnreadable(stream), decideRemoveAll('datastore_deleted'), call)
  }
export type RemoveDatastoreFileCommand = ReturnType<typeof removeDatastoreFile>
