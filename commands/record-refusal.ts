import type { RefusalEvent } from '../src/domain/refusals/events.ts'
import { refusalsStream } from '../src/domain/refusals/refusals.ts'
import type { Call } from '../src/ports/call.ts'
import type { Transact } from '../src/transact.ts'

/** Notes that access was refused to the call's key. */
export const recordRefusal =
  (transact: Transact) =>
  async (refused: RefusalEvent, call: Call): Promise<void> => {
    await transact(refusalsStream(call.organizationId, call.keyId), () => [refused], call)
  }
export type RecordRefusalCommand = ReturnType<typeof recordRefusal>
