import { type CredentialView, credentialDocumentId } from '../projections/credentials.ts'
import type { View } from '../src/ports/views.ts'
import type { Vault } from '../src/security/vault.ts'

/** The hosts that a credential may be sent to. */
export type HostsOf = (stored: CredentialView) => Promise<readonly string[]>

type Uses = {
  credentials: View<CredentialView>
  hostsOf: HostsOf
  open: Vault['open']
}

/** A credential's value, and the hosts that it may be sent to. */
export type CredentialValue = { value: string; hosts: readonly string[] }

/**
 * The value of a user's own credential, for a request that a tool makes in the user's name and
 * nothing else; undefined where none is stored, or no longer.
 */
export const findCredential =
  ({ credentials, hostsOf, open }: Uses) =>
  async (
    organizationId: string,
    userId: string,
    name: string,
  ): Promise<CredentialValue | undefined> => {
    const credential = await credentials.get(credentialDocumentId(organizationId, userId, name))
    // The unreadable event may be its deletion.
    if (!credential || credential.incomplete) return undefined
    const value = await open(credential.value)
    return value === undefined ? undefined : { value, hosts: await hostsOf(credential) }
  }
export type FindCredential = ReturnType<typeof findCredential>
