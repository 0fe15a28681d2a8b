import { credentialNamesIn } from './credential-names.ts'
import { type AgentConfiguration, isApiCall } from './events.ts'

/** What decides where an agent sends credentials. */
export type SendingAgent = Pick<AgentConfiguration, 'agentType' | 'tools' | 'mcpServers'>

/** Most hosts that may receive one value. */
export const mostHosts = 100

/** Scheme and host without placeholders: arguments cannot choose the server. */
const fixedHost = /^https?:\/\/[^/?#\\{}\s]+(?:[/?#]|$)/i

export const hasFixedHost = (template: string): boolean => fixedHost.test(template)

/** The host of an address template; none where it has no fixed one: such a tool is never called. */
const hostOf = (template: string): string[] => {
  const text = template.replace(/\{[^}]*\}/g, 'x')
  return hasFixedHost(template) && URL.canParse(text) ? [new URL(text).host] : []
}

/** For each credential name, the sorted hosts to which agents' tools and servers send its value. */
export const credentialHosts = (
  agents: Iterable<SendingAgent>,
): ReadonlyMap<string, readonly string[]> => {
  const hostsOf = new Map<string, Set<string>>()
  for (const { agentType, tools, mcpServers } of agents) {
    if (agentType !== 'LLM_AGENT') continue
    for (const { url, headers } of [...tools.filter(isApiCall), ...mcpServers])
      for (const name of Object.values(headers).flatMap(credentialNamesIn)) {
        const hosts = hostsOf.get(name) ?? new Set()
        for (const host of hostOf(url)) hosts.add(host)
        hostsOf.set(name, hosts)
      }
  }
  return new Map(
    [...hostsOf].map(([name, hosts]) => [name, [...hosts].toSorted().slice(0, mostHosts)]),
  )
}
