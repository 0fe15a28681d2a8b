import type { AgentView } from '../projections/agents.ts'
import type { CredentialView } from '../projections/credentials.ts'
import { agentLimit } from '../src/domain/agent/agent.ts'
import { credentialNamesIn } from '../src/domain/agent/credential-names.ts'
import { refusal } from '../src/domain/refusal.ts'
import type { View } from '../src/ports/views.ts'
import { listCredentials } from './list-credentials.ts'
import { reached } from './list-management-agents.ts'

type Uses = { agents: View<AgentView>; credentials: View<CredentialView> }

/** What a credential is sent to. */
type Kind = 'api_call' | 'mcp_server'

type Reason =
  | 'provided_by_organization'
  | 'provided_by_system'
  | 'no_credential_schema'
  | 'too_many_items'

type Skipped = { name: string; reason: Reason }
type Source = { name: string; kind: Kind; headers: Readonly<Record<string, string>> }

/** Items of one kind on a connect page (docs/contract/limits.md#sizes). */
const mostOfKind = 20

const sourcesOf = ({ tools, mcp_servers }: AgentView): Source[] => [
  ...tools.flatMap((tool) =>
    typeof tool === 'string'
      ? []
      : [{ name: tool.name, kind: 'api_call' as const, headers: tool.headers }],
  ),
  ...mcp_servers.map(({ name, headers }) => ({ name, kind: 'mcp_server' as const, headers })),
]

const builtInOf = ({ tools }: AgentView): Skipped[] =>
  tools.flatMap((name) =>
    typeof name === 'string' ? [{ name, reason: 'provided_by_system' as const }] : [],
  )

/**
 * What a user connects for an agent and all that it runs: the credentials that their calls name,
 * each once, by name. Skipped are tools that need none of the user: built in, sent with fixed
 * headers of the organization's, or with none; and what is beyond 20 of a kind.
 * @throws agent_not_found
 */
export const listConnectItems =
  ({ agents, credentials }: Uses) =>
  async (organizationId: string, userId: string, agentId: string) => {
    const found = await agents.find({
      index: 'by_organization',
      equals: [organizationId],
      limit: agentLimit,
    })
    const views = new Map(found.items.map((view) => [view.agent_id, view]))
    if (!views.has(agentId)) throw refusal('agent_not_found')
    const stored = await listCredentials(credentials)(organizationId, userId)
    const connected = new Set(stored.credentials.map(({ name }) => name))
    const callers = [...reached(agentId, (id) => views.get(id)?.sub_agents ?? [])]
      .flatMap((id) => views.get(id) ?? [])
      .filter(({ agent_type }) => agent_type === 'LLM_AGENT')

    const kinds = new Map<string, Kind>()
    const skipped = new Map(callers.flatMap(builtInOf).map((one) => [one.name, one]))
    for (const { name, kind, headers } of callers.flatMap(sourcesOf)) {
      const values = Object.values(headers)
      const needed = values.flatMap(credentialNamesIn)
      for (const credential of needed) if (!kinds.has(credential)) kinds.set(credential, kind)
      const reason = values.length > 0 ? 'provided_by_organization' : 'no_credential_schema'
      if (needed.length === 0) skipped.set(name, { name, reason })
    }

    const items: { name: string; kind: Kind; connected: boolean }[] = []
    const counts = { api_call: 0, mcp_server: 0 }
    for (const [name, kind] of [...kinds].toSorted(([a], [b]) => (a < b ? -1 : 1)))
      if (++counts[kind] > mostOfKind) skipped.set(name, { name, reason: 'too_many_items' })
      else items.push({ name, kind, connected: connected.has(name) })
    return { items, skipped: [...skipped.values()] }
  }
export type ListConnectItems = ReturnType<typeof listConnectItems>
