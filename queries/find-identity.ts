import { type IdentityView, identityDocumentId } from '../projections/identities.ts'
import type { View } from '../src/ports/views.ts'
import type { Secrets } from '../src/security/secrets.ts'

type Uses = { identities: View<IdentityView>; hashSubject: Secrets['hashSubject'] }

/**
 * The account that an identity was linked to. Needed for identities that were linked before they
 * were claimed; for all others their own stream decides.
 */
export const findIdentity =
  ({ identities, hashSubject }: Uses) =>
  async (provider: string, subject: string): Promise<string | undefined> => {
    const subjectHash = hashSubject(`${provider}/${subject}`)
    return (await identities.get(identityDocumentId(provider, subjectHash)))?.user_id
  }
export type FindIdentity = ReturnType<typeof findIdentity>
