import { latest } from '../src/domain/event.ts'
import { decideProvision, memberStream } from '../src/domain/member/member.ts'
import { organizationStream, requireOrganization } from '../src/domain/organization/organization.ts'
import { decideInviteProvisioned, userStream } from '../src/domain/user/user.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import { sealedInvitation } from '../src/security/sealed-invitation.ts'
import type { Vault } from '../src/security/vault.ts'
import type { RegisterUserCommand } from './register-user.ts'

type Uses = Streams & { registerUser: RegisterUserCommand; seal: Vault['seal'] }

export type ProvisionUser = { email: string; name?: string | undefined }

/**
 * The account of an email address as a member of the call's organization: registered where there is
 * none, pending where it was no member. Of two at once, both get the same account and membership,
 * one of them `created`. The invitation is noted first, so that who sees the one sees the other.
 * @throws organization_not_found, account_not_provisionable
 */
export const provisionUser =
  ({ load, transact, registerUser, seal }: Uses) =>
  async ({ email, name }: ProvisionUser, call: Call) => {
    const { organizationId } = call
    requireOrganization((await load(organizationStream(organizationId))).state)
    const origin = { origin: 'provisioned', provisionedBy: organizationId } as const
    const account = await registerUser({ email, name, ...origin }, call)
    const { userId, created } = account
    const membership = memberStream(organizationId, userId)
    const member = await load(membership)
    const answer = { userId, created }
    if (member.state.status === 'pending' || member.state.status === 'active')
      return { ...answer, status: member.state.status, position: member.position }
    const { generation } = member.state.key
    const person = { organizationId, userId, generation, email, name }
    const invitedWith = await sealedInvitation(seal, person)
    const invite = decideInviteProvisioned(organizationId)
    const invited = await transact(userStream(userId), invite, call)
    const added = await transact(membership, decideProvision(invitedWith), call)
    // Another call may have activated it meanwhile.
    const status: 'pending' | 'active' = added.state.status === 'active' ? 'active' : 'pending'
    const position = latest(account.position, invited.position, added.position)
    return { ...answer, status, position }
  }
export type ProvisionUserCommand = ReturnType<typeof provisionUser>
