import { refusal } from '../refusal.ts'
import { credentialNamesIn } from './credential-names.ts'
import { type AgentConfiguration, isApiCall, toolName } from './events.ts'
import { reached } from './graph.ts'

/** What a credential is sent to. */
export type ConnectKind = 'api_call' | 'mcp_server'

/** A credential that a user connects. */
export type ConnectItem = { name: string; kind: ConnectKind }

/** What needs no credential of the user, and why not. */
export type SkippedItem = {
  name: string
  reason:
    | 'provided_by_organization'
    | 'provided_by_system'
    | 'no_credential_schema'
    | 'too_many_items'
}

/** What matters of an agent here. */
export type ConnectingAgent = Pick<
  AgentConfiguration,
  'agentType' | 'tools' | 'mcpServers' | 'subAgents' | 'credentials'
>
type Source = ConnectItem & { headers: Readonly<Record<string, string>> }

/** Items of one kind on a connect page (docs/contract/limits.md#sizes). */
const mostOfKind = 20

const sourcesOf = ({ tools, mcpServers }: ConnectingAgent): Source[] => [
  ...tools.flatMap((tool) =>
    isApiCall(tool) ? [{ name: tool.name, kind: 'api_call' as const, headers: tool.headers }] : [],
  ),
  ...mcpServers.map(({ name, headers }) => ({ name, kind: 'mcp_server' as const, headers })),
]

const builtInOf = ({ tools }: ConnectingAgent): SkippedItem[] =>
  tools.flatMap((tool) =>
    isApiCall(tool) ? [] : [{ name: toolName(tool), reason: 'provided_by_system' as const }],
  )

/** An agent and all agents below it, except those that only run others and call nothing. */
export const callersOf = (
  agentId: string,
  agentOf: (agentId: string) => ConnectingAgent | undefined,
): ConnectingAgent[] =>
  [...reached(agentId, (id) => agentOf(id)?.subAgents ?? [])]
    .flatMap((id) => agentOf(id) ?? [])
    .filter(({ agentType }) => agentType === 'LLM_AGENT')

/**
 * What a user connects for an agent and all that it runs: the credentials that their calls name,
 * each once, by name. Skipped are tools that need none of the user: built in, sent with fixed
 * headers of the organization's, or with none; and what is beyond 20 of a kind.
 */
export const connectItems = (
  agentId: string,
  agentOf: (agentId: string) => ConnectingAgent | undefined,
): { items: ConnectItem[]; skipped: SkippedItem[] } => {
  const callers = callersOf(agentId, agentOf)

  const kinds = new Map<string, ConnectKind>()
  const skipped = new Map(callers.flatMap(builtInOf).map((tool) => [tool.name, tool]))
  for (const { name, kind, headers } of callers.flatMap(sourcesOf)) {
    const values = Object.values(headers)
    const needed = values.flatMap(credentialNamesIn)
    for (const credential of needed) if (!kinds.has(credential)) kinds.set(credential, kind)
    const reason = values.length > 0 ? 'provided_by_organization' : 'no_credential_schema'
    if (needed.length === 0) skipped.set(name, { name, reason })
  }

  const items: ConnectItem[] = []
  const counts = { api_call: 0, mcp_server: 0 }
  for (const [name, kind] of [...kinds].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    if (++counts[kind] > mostOfKind) skipped.set(name, { name, reason: 'too_many_items' })
    else items.push({ name, kind })
  return { items, skipped: [...skipped.values()] }
}

/** @throws nothing_to_connect */
export const requireItems = ({ items, skipped }: ReturnType<typeof connectItems>): void => {
  if (items.length === 0) throw refusal('nothing_to_connect', { skipped })
}
