import { type CredentialView, credentialDocumentId } from '../projections/credentials.ts'
import { refusal } from '../src/domain/refusal.ts'
import type { View } from '../src/ports/views.ts'

/** A credential without its value. */
export const credentialAnswer = ({ name, created_at, updated_at }: CredentialView) => ({
  name,
  created_at,
  updated_at,
})

/** Since when a credential is there, never its value. @throws credential_not_found */
export const getCredential =
  ({ credentials }: { credentials: View<CredentialView> }) =>
  async (organizationId: string, userId: string, name: string) => {
    const credential = await credentials.get(credentialDocumentId(organizationId, userId, name))
    if (!credential) throw refusal('credential_not_found')
    return credentialAnswer(credential)
  }
export type GetCredential = ReturnType<typeof getCredential>
