import { emailStream } from '../src/domain/email/email.ts'
import { userStream } from '../src/domain/user/user.ts'
import type { Load } from '../src/event-sourcing/transactor.ts'
import type { Secrets } from '../src/security/secrets.ts'

type Uses = { load: Load } & Pick<Secrets, 'hashEmail' | 'earlierEmailHashes'>

/** Whom an address leads to. `staleClaimant`: who claims it, but has another address. */
export type AddressHolder = { userId?: string; staleClaimant?: string }

/**
 * The account of an address, also under a spelling that earlier releases told apart from it. A
 * claim counts only while its account has the address or is not registered yet.
 */
export const findAddressHolder =
  ({ load, hashEmail, earlierEmailHashes }: Uses) =>
  async (email: string): Promise<AddressHolder> => {
    const hash = hashEmail(email)
    const hashes = [hash, ...earlierEmailHashes(email)]
    let staleClaimant: string | undefined
    for (const candidate of hashes) {
      const { userId } = (await load(emailStream(candidate))).state
      if (userId === null) continue
      const { emailHash } = (await load(userStream(userId))).state
      if (emailHash === null || hashes.includes(emailHash)) return { userId }
      if (candidate === hash) staleClaimant = userId
    }
    return staleClaimant === undefined ? {} : { staleClaimant }
  }
export type FindAddressHolder = ReturnType<typeof findAddressHolder>
