import { latest } from '../src/domain/event.ts'
import type { MemberRole } from '../src/domain/member/events.ts'
import { decideAdd, memberStream, requireNoMember } from '../src/domain/member/member.ts'
import { organizationStream, requireOrganization } from '../src/domain/organization/organization.ts'
import { decideInvite, userStream } from '../src/domain/user/user.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import { sealedInvitation } from '../src/security/sealed-invitation.ts'
import type { Vault } from '../src/security/vault.ts'
import type { RegisterUserCommand } from './register-user.ts'

/** Nobody is invited as an owner: an active member is made one. */
export type AddMember = {
  email: string
  name?: string | undefined
  role: Exclude<MemberRole, 'OWNER'>
}

type Uses = Streams & { registerUser: RegisterUserCommand; seal: Vault['seal'] }

/**
 * Invites a person by email. The membership is pending until that person accepts. The invitation is
 * noted before the membership, so that who sees the one sees the other.
 * @throws organization_not_found, member_exists
 */
export const addMember =
  ({ load, transact, registerUser, seal }: Uses) =>
  async ({ email, name, role }: AddMember, call: Call) => {
    const { organizationId } = call
    requireOrganization((await load(organizationStream(organizationId))).state)
    const { userId } = await registerUser({ email, name, origin: 'member' }, call)
    const membership = memberStream(organizationId, userId)
    const { state } = await load(membership)
    requireNoMember(state)
    const { generation } = state.key
    const person = { organizationId, userId, generation, email, name }
    const invitedWith = await sealedInvitation(seal, person)
    const decide = decideAdd({ role, status: 'pending', ...invitedWith })
    const invited = await transact(userStream(userId), decideInvite(organizationId), call)
    const added = await transact(membership, decide, call)
    return { userId, position: latest(invited.position, added.position) }
  }
export type AddMemberCommand = ReturnType<typeof addMember>
