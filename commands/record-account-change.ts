import type { MemberEvent } from '../src/domain/member/events.ts'
import { decideTellAccountChange, memberStream } from '../src/domain/member/member.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

export type RecordAccountChange = MemberEvent<'MemberAccountChanged'>['data'] & { userId: string }

/**
 * Tells in an organization's history what the platform did to the account of a member. Changes of one
 * account are told in the order of the log, each once, also by two processes at a time.
 */
export const recordAccountChange =
  (transact: Transact) =>
  async ({ userId, ...data }: RecordAccountChange, call: Call) => {
    const membership = memberStream(call.organizationId, userId)
    const { position } = await transact(membership, decideTellAccountChange(data), call)
    return { position }
  }
export type RecordAccountChangeCommand = ReturnType<typeof recordAccountChange>
