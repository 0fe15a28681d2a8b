import type { Sealed } from '../domain/sealed.ts'
import { defaultName, normalizedEmail } from './email-address.ts'
import { memberKey, type Vault } from './vault.ts'

type Invitation = {
  organizationId: string
  userId: string
  /** Of the member's key. */
  generation: number
  email: string
  name?: string | undefined
}

/** What an organization invites a person with, sealed for that organization. */
export const sealedInvitation = async (
  seal: Vault['seal'],
  { organizationId, userId, generation, email, name }: Invitation,
): Promise<{ email: Sealed; name: Sealed }> => {
  const key = memberKey(organizationId, userId, generation)
  const address = normalizedEmail(email)
  return { email: await seal(key, address), name: await seal(key, name ?? defaultName(address)) }
}
