import { refusalsStream } from '../src/domain/access-refusals/access-refusals.ts'
import type { RefusalEvent } from '../src/domain/access-refusals/events.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

/** Notes that access was refused to the call's key. */
export const recordRefusal =
  (transact: Transact) =>
  async (refused: RefusalEvent, call: Call): Promise<void> => {
    await transact(refusalsStream(call.organizationId, call.keyId), () => [refused], call)
  }
export type RecordRefusalCommand = ReturnType<typeof recordRefusal>
