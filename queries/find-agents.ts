import { LRUCache } from 'lru-cache'
import type { Observable } from 'rxjs'
import { serversOf, toolsOf } from '../projections/agent-tools.ts'
import { type AgentView, limitsIn } from '../projections/agents.ts'
import type { OrganizationView } from '../projections/organizations.ts'
import type { AgentConfig } from '../src/agents/agent.ts'
import { refusal } from '../src/domain/refusal.ts'
import type { View } from '../src/ports/views.ts'

/** The agents of an organization as they are now, and the one its turns are given to. */
export type RunnableAgents = { orchestrator: AgentConfig; agents: ReadonlyMap<string, AgentConfig> }

type Uses = {
  agents: View<AgentView>
  organizations: View<OrganizationView>
  /** Changed documents of any read model, as this node sees them. */
  changes: Observable<readonly { view: string; changes: readonly unknown[]; anew?: boolean }[]>
  /** Another node may be the one that projects. */
  sharedViews: boolean
}

/** What another node's projecting may leave stale here. */
const sharedTtlMs = 5_000
/** Where this process alone projects, every change is seen as it is folded. */
const ownTtlMs = 60_000
/** The clock of the cache is read this often: at every use it would cost a timer each millisecond. */
const clockMs = 100
const most = 10_000

const configOf = (view: AgentView): AgentConfig => ({
  agentId: view.agent_id,
  name: view.name,
  description: view.description,
  agentType: view.agent_type,
  model: view.model,
  instruction: view.instruction,
  isActive: view.is_active,
  tools: toolsOf(view.tools),
  mcpServers: serversOf(view.mcp_servers),
  subAgents: [...view.sub_agents],
  datastoreIds: [...view.datastore_ids],
  temperature: view.temperature,
  maxTokens: view.max_tokens,
  outputKey: view.output_key,
  maxIterations: view.max_iterations,
  exitCondition: view.exit_condition,
  ...(view.limits ? { limits: limitsIn(view.limits) } : {}),
})

/**
 * The agents of an organization, kept until an agent or organization changes. A turn keeps those
 * that it started with. @throws agent_not_found where there is no orchestrator,
 * stream_unreadable
 */
export const findAgents = ({ agents, organizations, changes, sharedViews }: Uses) => {
  const ttlMs = sharedViews ? sharedTtlMs : ownTtlMs
  const known = new LRUCache<string, RunnableAgents>({
    max: 1_000,
    ttl: ttlMs - clockMs,
    ttlResolution: clockMs,
  })
  let version = 0
  const watching = changes.subscribe((batch) => {
    for (const { view, changes, anew } of batch) {
      if (view !== 'agents' && view !== 'organizations') continue
      if (changes.length === 0 && !anew) continue
      version++
      known.clear()
    }
  })

  const read = async (organizationId: string): Promise<RunnableAgents> => {
    const before = version
    const organization = await organizations.get(organizationId)
    const { items } = await agents.find({
      index: 'by_organization',
      equals: [organizationId],
      limit: most,
    })
    // What cannot be read may have taken a right from an agent.
    if (items.some(({ incomplete }) => incomplete)) throw refusal('stream_unreadable')
    const all = new Map(items.map((view) => [view.agent_id, configOf(view)]))
    const orchestrator = all.get(organization?.orchestrator_agent_id ?? '')
    if (!orchestrator) throw refusal('agent_not_found')
    const found = { orchestrator, agents: all }
    if (version === before) known.set(organizationId, found)
    return found
  }

  return {
    find: (organizationId: string): RunnableAgents | Promise<RunnableAgents> =>
      known.get(organizationId) ?? read(organizationId),
    close: () => watching.unsubscribe(),
  }
}
export type FindAgents = ReturnType<typeof findAgents>['find']
