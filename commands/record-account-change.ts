import type { MemberEvent } from '../src/domain/member/events.ts'
import { decideTellAccountChange, memberStream } from '../src/domain/member/member.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

export type RecordAccountChange = MemberEvent<'MemberAccountChanged'>['data'] & { userId: string }

/**
 * Records a change that the platform made to a member's account in an organization's history.
 * Changes of one account are recorded once each, in the order of the log, also by two processes.
 */
export const recordAccountChange =
  ({ transact }: { transact: Transact }) =>
  async ({ userId, ...data }: RecordAccountChange, call: Call) => {
    const membership = memberStream(call.organizationId, userId)
    const { position } = await transact(membership, decideTellAccountChange(data), call)
    return { position }
  }
export type RecordAccountChangeCommand = ReturnType<typeof recordAccountChange>
