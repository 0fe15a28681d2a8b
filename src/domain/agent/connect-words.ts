import { type ConnectingAgent, callersOf } from './connect-items.ts'
import { credentialNamesIn } from './credential-names.ts'
import { type CredentialWords, isApiCall } from './events.ts'

/** What a person is told of a credential: in whose words, and which hosts are sent its value. */
export type ConnectWords = Omit<CredentialWords, 'name'> & { hosts: string[] }

type Sender = { url: string; headers: Readonly<Record<string, string>> }

const sendersOf = ({ tools, mcpServers }: ConnectingAgent): Sender[] => [
  ...tools.filter(isApiCall),
  ...mcpServers,
]

/** The host of an address; a template's placeholders are behind it. */
const hostOf = (url: string): string[] => {
  const text = url.replace(/\{[^}]*\}/g, 'x')
  return URL.canParse(text) ? [new URL(text).host] : []
}

/**
 * What is said of each credential that an agent and all below it send. Where several agents
 * describe one, the first that is reached does.
 */
export const connectWords = (
  agentId: string,
  agentOf: (agentId: string) => ConnectingAgent | undefined,
): ReadonlyMap<string, ConnectWords> => {
  const found = new Map<string, ConnectWords>()
  const callers = callersOf(agentId, agentOf)
  for (const { url, headers } of callers.flatMap(sendersOf))
    for (const name of Object.values(headers).flatMap(credentialNamesIn)) {
      const { hosts } = found.get(name) ?? { hosts: [] }
      found.set(name, { hosts: [...new Set([...hosts, ...hostOf(url)])].toSorted() })
    }
  for (const { name, ...words } of callers
    .flatMap(({ credentials }) => credentials ?? [])
    .reverse()) {
    const { hosts } = found.get(name) ?? {}
    if (hosts) found.set(name, { hosts, ...words })
  }
  return found
}
