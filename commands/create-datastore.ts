import { dataStoresStream, decideCreate } from '../src/domain/datastore/datastore.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import type { Clock } from '../src/ports/clock.ts'
import { idFor } from '../src/support/ids.ts'

export type CreateDatastore = {
  displayName: string
  description: string | null
  /** Where the id has to be known beforehand. */
  datastoreId?: string
}

/** @throws datastore_exists */
export const createDatastore =
  ({ transact, clock }: { transact: Transact; clock: Clock }) =>
  async (input: CreateDatastore, call: Call) => {
    const { datastoreId = idFor(clock, call, 'datastore'), displayName, description } = input
    const decide = decideCreate({ datastoreId, displayName, description })
    const { position } = await transact(dataStoresStream(call.organizationId), decide, call)
    return { datastoreId, position }
  }
export type CreateDatastoreCommand = ReturnType<typeof createDatastore>
