import { decideClaim, decideRelease, emailStream } from '../src/domain/email/email.ts'
import type { UserEvent } from '../src/domain/user/events.ts'
import { decideRegister, userStream } from '../src/domain/user/user.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import type { Clock } from '../src/ports/clock.ts'
import { defaultName, normalizedEmail } from '../src/security/email-address.ts'
import type { Secrets } from '../src/security/secrets.ts'
import { userKey, type Vault } from '../src/security/vault.ts'
import { idFor } from '../src/support/ids.ts'
import type { FindAddressHolder } from './find-address-holder.ts'

type Uses = Streams & {
  clock: Clock
  hashEmail: Secrets['hashEmail']
  findAddressHolder: FindAddressHolder
  seal: Vault['seal']
}

export type RegisterUser = Pick<UserEvent<'UserRegistered'>['data'], 'origin' | 'provisionedBy'> & {
  email: string
  /** Default: the part of the address before the @. */
  name?: string | undefined
}

/**
 * The account of an email address, registered where there is none. The address is claimed first:
 * of two at once, both get the same account. An existing account is left as it is.
 */
export const registerUser =
  ({ load, transact, clock, hashEmail, findAddressHolder, seal }: Uses) =>
  async ({ email, name, ...origin }: RegisterUser, call: Call) => {
    const address = normalizedEmail(email)
    const emailHash = hashEmail(address)
    const { userId: holder, staleClaimant } = await findAddressHolder(email)
    // A crash may have interrupted a change of address.
    if (staleClaimant) await transact(emailStream(emailHash), decideRelease(staleClaimant), call)
    const offered = holder ?? idFor(clock, call, `user/${emailHash}`)
    const claim = await transact(emailStream(emailHash), decideClaim(offered), call)
    const userId = claim.state.userId ?? offered
    const stream = userStream(userId)
    const user = await load(stream)
    if (user.state.status === 'registered')
      return { userId, created: false, user: user.state, position: user.position }
    const [sealedEmail, sealedName] = await Promise.all([
      seal(userKey(userId), address),
      seal(userKey(userId), name ?? defaultName(address)),
    ])
    const data = { email: sealedEmail, emailHash, name: sealedName, ...origin }
    const { events, state, position } = await transact(stream, decideRegister(data), call)
    return { userId, created: events.length > 0, user: state, position }
  }
export type RegisterUserCommand = ReturnType<typeof registerUser>
