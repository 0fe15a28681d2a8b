import { latest } from '../src/domain/event.ts'
import { decideClaimIdentity, identityStream } from '../src/domain/identity/identity.ts'
import { isPresent, memberStream } from '../src/domain/member/member.ts'
import { refusal } from '../src/domain/refusal.ts'
import {
  decideLinkIdentity,
  hasIdentity,
  joinedBySigningIn,
  type LinkedIdentity,
  userStream,
} from '../src/domain/user/user.ts'
import type { Load, Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import type { Secrets } from '../src/security/secrets.ts'
import type { AcceptInvitationCommand } from './accept-invitation.ts'
import type { ChangeAddressCommand } from './change-address.ts'
import type { FindAddressHolder } from './find-address-holder.ts'
import type { RegisterUserCommand } from './register-user.ts'

type Uses = {
  load: Load
  transact: Transact
  acceptInvitation: AcceptInvitationCommand
  registerUser: RegisterUserCommand
  changeAddress: ChangeAddressCommand
  findAddressHolder: FindAddressHolder
  hashSubject: Secrets['hashSubject']
  hashIdentity: Secrets['hashIdentity']
}

/** An organization's invitation that the person accepts while signing in. */
type Accepted = { organizationId: string; allowBacking: boolean }

/** What an identity provider vouches for: `subject` is its own id of the person. */
export type RecordLogin = {
  email: string
  provider: string
  subject: string
  /** False: the provider has not verified the address. Default: it has. */
  verified?: boolean | undefined
  accept?: readonly Accepted[] | undefined
  /** The account that the identity was linked to before identities were claimed. */
  linkedTo?: string | undefined
  /** An address without an account is refused, and not registered. */
  onlyKnown?: boolean
}

/**
 * Records a sign-in. The account is that of the identity, else that of the address, to which the
 * identity is then linked. A new address replaces the account's. An unverified address finds no
 * account and changes none. The first sign-in activates the membership in the organization that
 * provisioned the account; other invitations must be accepted, which `accept` does.
 * @throws identity_conflict, address_taken, address_not_verified, account_not_found
 */
export const recordLogin = (uses: Uses) => {
  const { load, transact, registerUser, changeAddress, findAddressHolder, acceptInvitation } = uses
  const { hashSubject, hashIdentity } = uses

  /** The account of an identity that was linked before identities were claimed. */
  const earlierAccount = async (login: RecordLogin, identity: LinkedIdentity) => {
    const { email, verified = true, linkedTo } = login
    const { userId } = verified ? await findAddressHolder(email) : {}
    for (const id of [userId, linkedTo]) {
      if (id === undefined) continue
      const { state } = await load(userStream(id))
      if (hasIdentity(state, identity)) return id
    }
    return undefined
  }

  /** @throws identity_conflict */
  const accountOf = async (login: RecordLogin, identity: LinkedIdentity, call: Call) => {
    const { email, provider, subject, verified = true, onlyKnown } = login
    const stream = identityStream(hashIdentity(provider, subject))
    const { userId } = (await load(stream)).state
    if (userId !== null) return { userId, created: false }
    const earlier = await earlierAccount(login, identity)
    if (!earlier && !verified) throw refusal('address_not_verified')
    if (!earlier && onlyKnown && !(await findAddressHolder(email)).userId)
      throw refusal('account_not_found')
    const account = earlier
      ? { userId: earlier, created: false }
      : await registerUser({ email, origin: 'self' }, call)
    decideLinkIdentity(identity)((await load(userStream(account.userId))).state)
    const claim = await transact(stream, decideClaimIdentity(account.userId), call)
    return { ...account, userId: claim.state.userId ?? account.userId }
  }

  return async (login: RecordLogin, call: Call) => {
    const { email, provider, subject, verified = true, accept = [] } = login
    const identity = { provider, subjectHash: hashSubject(`${provider}/${subject}`) }
    const { userId, created } = await accountOf(login, identity, call)
    const addressed = verified ? await changeAddress({ userId, email }, call) : undefined
    const stream = userStream(userId)
    const linked = await transact(stream, decideLinkIdentity(identity), call)
    const named = accept.map(({ organizationId }) => organizationId)
    const joined: string[] = []
    const positions = [...(addressed ? [addressed.position] : []), linked.position]
    for (const organizationId of joinedBySigningIn(linked.state, named)) {
      // A crash may have interrupted the invitation, or it was withdrawn.
      if (!isPresent((await load(memberStream(organizationId, userId))).state)) continue
      joined.push(organizationId)
      const allowBacking = accept.some(
        (invitation) => invitation.organizationId === organizationId && invitation.allowBacking,
      )
      const acceptance = { organizationId, userId, allowBacking, current: false }
      positions.push((await acceptInvitation(acceptance, call)).position)
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
}
export type RecordLoginCommand = ReturnType<typeof recordLogin>
