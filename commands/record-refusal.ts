import {
  refusalsStream,
  refusalsSummaryStream,
} from '../src/domain/access-refusals/access-refusals.ts'
import type { RefusalEvent } from '../src/domain/access-refusals/events.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

/** Records that access was refused to the call's key, or to an organization's keys. */
export const recordRefusal =
  ({ transact }: { transact: Transact }) =>
  async (refused: RefusalEvent, call: Call): Promise<void> => {
    const { organizationId, keyId } = call
    const stream =
      refused.type === 'AccessRefusalsSummarized'
        ? refusalsSummaryStream(organizationId)
        : refusalsStream(organizationId, keyId)
    await transact(stream, () => [refused], call)
  }
export type RecordRefusalCommand = ReturnType<typeof recordRefusal>
