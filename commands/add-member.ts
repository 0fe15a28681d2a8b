import { latest } from '../src/domain/event.ts'
import type { MemberRole } from '../src/domain/member/events.ts'
import { decideAdd, memberStream } from '../src/domain/member/member.ts'
import { organizationStream, requireOrganization } from '../src/domain/organization/organization.ts'
import { decideInvite, userStream } from '../src/domain/user/user.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import type { RegisterUserCommand } from './register-user.ts'

/** Nobody is invited as an owner: an active member is made one. */
export type AddMember = {
  email: string
  name?: string | undefined
  role: Exclude<MemberRole, 'OWNER'>
}

/**
 * Invites a person by email. The membership is pending until that person next signs in, also when
 * the account exists: nobody becomes a member without coming here. The invitation is noted before
 * the membership, so that a sign-in sees the one when it sees the other.
 * @throws organization_not_found, member_exists
 */
export const addMember =
  ({ load, transact, registerUser }: Streams & { registerUser: RegisterUserCommand }) =>
  async ({ email, name, role }: AddMember, call: Call) => {
    const { organizationId } = call
    requireOrganization((await load(organizationStream(organizationId))).state)
    const { userId } = await registerUser({ email, name, origin: 'member' }, call)
    const membership = memberStream(organizationId, userId)
    const decide = decideAdd({ role, status: 'pending' })
    decide((await load(membership)).state)
    const invited = await transact(userStream(userId), decideInvite(organizationId), call)
    const added = await transact(membership, decide, call)
    return { userId, position: latest(invited.position, added.position) }
  }
export type AddMemberCommand = ReturnType<typeof addMember>
