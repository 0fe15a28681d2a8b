import { latest } from '../src/domain/event.ts'
import type { MemberRole } from '../src/domain/member/events.ts'
import { type By, decideChangeRole, memberStream } from '../src/domain/member/member.ts'
import {
  decideAddOwner,
  decideRemoveOwner,
  organizationStream,
} from '../src/domain/organization/organization.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

export type ChangeMember = { userId: string; role: MemberRole; by: By }

/** @throws member_not_found, member_pending, owner_required, last_owner */
export const changeMember =
  ({ load, transact }: Streams) =>
  async ({ userId, role, by }: ChangeMember, call: Call) => {
    const membership = memberStream(call.organizationId, userId)
    const owners = organizationStream(call.organizationId)
    const decide = decideChangeRole(role, by)
    decide((await load(membership)).state)
    if (role !== 'OWNER') await transact(owners, decideRemoveOwner(userId), call)
    const changed = await transact(membership, decide, call)
    if (role !== 'OWNER') return { position: changed.position }
    const added = await transact(owners, decideAddOwner(userId), call)
    return { position: latest(changed.position, added.position) }
  }
export type ChangeMemberCommand = ReturnType<typeof changeMember>
