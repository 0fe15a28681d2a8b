import { type ConnectingAgent, callersOf } from './connect-items.ts'
import { credentialHosts } from './credential-hosts.ts'
import type { CredentialWords } from './events.ts'

/** What a person is told of a credential: in whose words, and which hosts are sent its value. */
export type ConnectWords = Omit<CredentialWords, 'name'> & { hosts: readonly string[] }

/**
 * What is said of each credential that an agent and all below it send. Where several agents
 * describe one, the first that is reached does.
 */
export const connectWords = (
  agentId: string,
  agentOf: (agentId: string) => ConnectingAgent | undefined,
): ReadonlyMap<string, ConnectWords> => {
  const callers = callersOf(agentId, agentOf)
  const found = new Map<string, ConnectWords>(
    [...credentialHosts(callers)].map(([name, hosts]) => [name, { hosts }]),
  )
  for (const { name, ...words } of callers
    .flatMap(({ credentials }) => credentials ?? [])
    .reverse()) {
    const { hosts } = found.get(name) ?? {}
    if (hosts) found.set(name, { hosts, ...words })
  }
  return found
}
