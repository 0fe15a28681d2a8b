import { decideClaim, decideRelease, emailStream } from '../src/domain/email/email.ts'
import { refusal } from '../src/domain/refusal.ts'
import { decideChangeAddress, hasAddress, userStream } from '../src/domain/user/user.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import { normalizedEmail } from '../src/security/email-address.ts'
import type { Secrets } from '../src/security/secrets.ts'
import { userKey, type Vault } from '../src/security/vault.ts'
import type { FindAddressHolder } from './find-address-holder.ts'

type Uses = Streams & {
  hashEmail: Secrets['hashEmail']
  findAddressHolder: FindAddressHolder
  seal: Vault['seal']
}

export type ChangeAddress = { userId: string; email: string }

/**
 * Gives an account the address that its person signs in with. The new address is claimed first, and
 * the old one released last, so that another person can have it. @throws address_taken
 */
export const changeAddress =
  ({ load, transact, hashEmail, findAddressHolder, seal }: Uses) =>
  async ({ userId, email }: ChangeAddress, call: Call) => {
    const emailHash = hashEmail(email)
    const stream = userStream(userId)
    const before = await load(stream)
    if (hasAddress(before.state, emailHash)) return { position: before.position }
    const holder = await findAddressHolder(email)
    if (holder.userId !== undefined && holder.userId !== userId) throw refusal('address_taken')
    const { staleClaimant } = holder
    if (staleClaimant !== undefined && staleClaimant !== userId)
      await transact(emailStream(emailHash), decideRelease(staleClaimant), call)
    const claim = await transact(emailStream(emailHash), decideClaim(userId), call)
    if (claim.state.userId !== userId) throw refusal('address_taken')

    const { generation } = before.state.key
    const sealed = await seal(userKey(userId, generation), normalizedEmail(email))
    const decide = decideChangeAddress({ email: sealed, emailHash })
    const changed = await transact(stream, decide, call)
    const { emailHash: old } = before.state
    if (old !== null && old !== emailHash)
      await transact(emailStream(old), decideRelease(userId), call)
    return { position: changed.position }
  }
export type ChangeAddressCommand = ReturnType<typeof changeAddress>
