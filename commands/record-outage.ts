import { decideRecordOutage, installationStream } from '../src/domain/installation/installation.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

/** Records that the store can be written again. @throws StoreUnavailable while it cannot */
export const recordOutage =
  ({ transact }: { transact: Transact }) =>
  async ({ from }: { from: Date }, call: Call): Promise<void> => {
    await transact(installationStream, decideRecordOutage(from.toISOString()), call)
  }
export type RecordOutageCommand = ReturnType<typeof recordOutage>
