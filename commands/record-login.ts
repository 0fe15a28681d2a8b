import { latest } from '../src/domain/event.ts'
import { isPresent, memberStream } from '../src/domain/member/member.ts'
import { decideLinkIdentity, joinedBySigningIn, userStream } from '../src/domain/user/user.ts'
import type { Load, Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import type { Secrets } from '../src/security/secrets.ts'
import type { AcceptInvitationCommand } from './accept-invitation.ts'
import type { RegisterUserCommand } from './register-user.ts'

type Uses = {
  load: Load
  transact: Transact
  acceptInvitation: AcceptInvitationCommand
  registerUser: RegisterUserCommand
  hashSubject: Secrets['hashSubject']
}

/** An organization's invitation that the person accepts while signing in. */
type Accepted = { organizationId: string; allowBacking: boolean }

/** What an identity provider vouches for: `subject` is its own id of the person. */
export type RecordLogin = {
  email: string
  provider: string
  subject: string
  accept?: readonly Accepted[] | undefined
}

/**
 * A person signed in. Links the identity. The membership in the organization that provisioned the
 * account becomes active at the first sign-in; other invitations wait until they are accepted, which
 * may be done here. Where there is no invitation, there is nothing to accept. An address nobody knew
 * gets an account. @throws identity_conflict
 */
export const recordLogin =
  ({ load, transact, registerUser, acceptInvitation, hashSubject }: Uses) =>
  async ({ email, provider, subject, accept = [] }: RecordLogin, call: Call) => {
    const { userId, created } = await registerUser({ email, origin: 'self' }, call)
    const stream = userStream(userId)
    const identity = { provider, subjectHash: hashSubject(`${provider}/${subject}`) }
    const linked = await transact(stream, decideLinkIdentity(identity), call)
    const named = accept.map(({ organizationId }) => organizationId)
    const joined: string[] = []
    const positions = [linked.position]
    for (const organizationId of joinedBySigningIn(linked.state, named)) {
      // Neither where a crash cut short the invitation, nor where it was withdrawn.
      if (!isPresent((await load(memberStream(organizationId, userId))).state)) continue
      joined.push(organizationId)
      const allowBacking = accept.some(
        (one) => one.organizationId === organizationId && one.allowBacking,
      )
      const asked = { organizationId, userId, allowBacking, current: false }
      positions.push((await acceptInvitation(asked, call)).position)
    }
    const { state } = await load(stream)
    return {
      userId,
      created,
      joined,
      invitations: state.invitations,
      currentOrganizationId: state.currentOrganizationId,
      position: latest(...positions),
    }
  }
export type RecordLoginCommand = ReturnType<typeof recordLogin>
