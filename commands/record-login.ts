import { latest } from '../src/domain/event.ts'
import { decideActivate, memberStream } from '../src/domain/member/member.ts'
import { decideLinkIdentity, decideSettleInvitations, userStream } from '../src/domain/user/user.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import type { Secrets } from '../src/security/secrets.ts'
import type { RegisterUserCommand } from './register-user.ts'

type Uses = {
  transact: Transact
  registerUser: RegisterUserCommand
  hashSubject: Secrets['hashSubject']
}

/** What an identity provider vouches for: `subject` is its own id of the person. */
export type RecordLogin = { email: string; provider: string; subject: string }

/**
 * A person signed in. Links the identity, makes pending memberships active, and makes the last
 * organization joined the current one. An address nobody knew gets an account.
 * @throws identity_conflict
 */
export const recordLogin =
  ({ transact, registerUser, hashSubject }: Uses) =>
  async ({ email, provider, subject }: RecordLogin, call: Call) => {
    const { userId, created } = await registerUser({ email, origin: 'self' }, call)
    const stream = userStream(userId)
    const identity = { provider, subjectHash: hashSubject(`${provider}/${subject}`) }
    const { state, position } = await transact(stream, decideLinkIdentity(identity), call)
    const joined: string[] = []
    const settled: string[] = []
    const positions = [position]
    for (const organizationId of state.invitations) {
      const inside = { ...call, organizationId }
      const membership = memberStream(organizationId, userId)
      const activated = await transact(membership, decideActivate, inside)
      if (activated.state.status !== 'none') settled.push(organizationId)
      if (activated.state.status === 'active') joined.push(organizationId)
      positions.push(activated.position)
    }
    const decide = decideSettleInvitations({ settled, joined: joined.at(-1) })
    const entered = await transact(stream, decide, call)
    return {
      userId,
      created,
      joined,
      currentOrganizationId: entered.state.currentOrganizationId,
      position: latest(entered.position, ...positions),
    }
  }
export type RecordLoginCommand = ReturnType<typeof recordLogin>
