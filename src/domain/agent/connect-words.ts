import { type ConnectingAgent, callersOf } from './connect-items.ts'
import { credentialHosts } from './credential-hosts.ts'
import type { CredentialWords } from './events.ts'

/** The description of a credential for a person, with the hosts that receive its value. */
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
  const wordsOf = new Map<string, ConnectWords>(
    [...credentialHosts(callers)].map(([name, hosts]) => [name, { hosts }]),
  )
  for (const { name, ...words } of callers
    .flatMap(({ credentials }) => credentials ?? [])
    .reverse()) {
    const { hosts } = wordsOf.get(name) ?? {}
    if (hosts) wordsOf.set(name, { hosts, ...words })
  }
  return wordsOf
}
