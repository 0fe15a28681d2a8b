import { type CredentialView, credentialDocumentId } from '../projections/credentials.ts'
import { refusal } from '../src/domain/refusal.ts'
import type { View } from '../src/ports/views.ts'

/** No user has more. */
const most = 1_000

const shown = ({ name, created_at, updated_at }: CredentialView) => ({
  name,
  created_at,
  updated_at,
})

/** The names of a user's credentials in an organization, never a value. */
export const listCredentials =
  (credentials: View<CredentialView>) => async (organizationId: string, userId: string) => {
    const { items, total } = await credentials.find({
      index: 'by_user',
      equals: [organizationId, userId],
      limit: most,
    })
    return {
      credentials: items.map(shown),
      total,
    }
  }
export type ListCredentials = ReturnType<typeof listCredentials>

/** Since when a credential is there, never its value. @throws credential_not_found */
export const getCredential =
  (credentials: View<CredentialView>) =>
  async (organizationId: string, userId: string, name: string) => {
    const found = await credentials.get(credentialDocumentId(organizationId, userId, name))
    if (!found) throw refusal('credential_not_found')
    return shown(found)
  }
export type GetCredential = ReturnType<typeof getCredential>
