import { credentialHosts } from '../src/domain/agent/credential-hosts.ts'
import { organizationAgentsStream } from '../src/domain/agent/organization-agents.ts'
import {
  credentialsStream,
  decideStore,
  requireCredentialValue,
} from '../src/domain/credential/credential.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import { credentialsKey, type Vault } from '../src/security/vault.ts'

export type StoreCredential = {
  userId: string
  name: string
  value: string
  /** Hosts that may receive the value; default: those of the tools that name it now. */
  hosts?: readonly string[] | undefined
}

/**
 * Stores a user's credential in the call's organization, or puts a new value in the place of an
 * earlier one; `created` tells which. @throws invalid_input
 */
export const storeCredential = ({ load, transact, seal }: Streams & { seal: Vault['seal'] }) => {
  const hostsNow = async (organizationId: string, name: string) => {
    const { agents } = (await load(organizationAgentsStream(organizationId))).state
    return credentialHosts(Object.values(agents)).get(name) ?? []
  }
  const stored = async (credential: StoreCredential, call: Call) => {
    const { userId, name, value: text, hosts } = credential
    const stream = credentialsStream(call.organizationId, userId)
    const { generation } = (await load(stream)).state.key
    const value = await seal(credentialsKey(call.organizationId, userId, generation), text)
    const allowed = [...(hosts ?? (await hostsNow(call.organizationId, name)))]
    const decide = decideStore({ name, value, hosts: allowed }, generation)
    const { events, position } = await transact(stream, decide, call)
    const [event] = events
    // Sealed under a key that was destroyed meanwhile: once more, under the next.
    if (!event) return stored(credential, call)
    return { name, created: event.type === 'CredentialStored', position }
  }
  return async (credential: StoreCredential, call: Call) => {
    requireCredentialValue(credential.value)
    return stored(credential, call)
  }
}
export type StoreCredentialCommand = ReturnType<typeof storeCredential>
