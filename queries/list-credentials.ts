import type { CredentialView } from '../projections/credentials.ts'
import type { View } from '../src/ports/views.ts'
import { credentialAnswer } from './get-credential.ts'

/** No user has more. */
export const mostCredentials = 1_000

/** The names of a user's credentials in an organization, never a value. */
export const listCredentials =
  ({ credentials }: { credentials: View<CredentialView> }) =>
  async (organizationId: string, userId: string) => {
    const { items, total } = await credentials.find({
      index: 'by_user',
      equals: [organizationId, userId],
      limit: mostCredentials,
    })
    return {
      credentials: items.map(credentialAnswer),
      total,
    }
  }
export type ListCredentials = ReturnType<typeof listCredentials>
