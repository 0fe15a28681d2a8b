import { type CredentialView, credentialDocumentId } from '../projections/credentials.ts'
import type { View } from '../src/ports/views.ts'
import type { Vault } from '../src/security/vault.ts'

type Uses = { credentials: View<CredentialView>; open: Vault['open'] }

/**
 * The value of a user's own credential, for a request that a tool makes in the user's name and
 * nothing else; undefined where none is stored, or no longer.
 */
export const findCredential =
  ({ credentials, open }: Uses) =>
  async (organizationId: string, userId: string, name: string): Promise<string | undefined> => {
    const found = await credentials.get(credentialDocumentId(organizationId, userId, name))
    // What cannot be read may have deleted it.
    return found && !found.incomplete ? open(found.value) : undefined
  }
export type FindCredential = ReturnType<typeof findCredential>
