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
  return async ({ userId, name, value: text, hosts }: StoreCredential, call: Call) => {
    requireCredentialValue(text)
    const sealed = await seal(credentialsKey(call.organizationId, userId), text)
    const stream = credentialsStream(call.organizationId, userId)
    const allowed = [...(hosts ?? (await hostsNow(call.organizationId, name)))]
    const decide = decideStore({ name, value: sealed, hosts: allowed })
    const { events, position } = await transact(stream, decide, call)
    return { name, created: events.some(({ type }) => type === 'CredentialStored'), position }
  }
}
export type StoreCredentialCommand = ReturnType<typeof storeCredential>
