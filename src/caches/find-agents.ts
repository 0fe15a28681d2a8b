import { LRUCache } from 'lru-cache'
import type { Observable } from 'rxjs'
import { serversOf, toolsOf } from '../../projections/agent-tools.ts'
import { type AgentView, limitsIn, wordsOf } from '../../projections/agents.ts'
import type { OrganizationView } from '../../projections/organizations.ts'
import type { AgentConfig } from '../agents/agent.ts'
import { refusal } from '../domain/refusal.ts'
import type { DocumentChange, View } from '../ports/views.ts'
import { inParts, type Sized } from '../support/in-parts.ts'
import { type Changed, ownTtlMs } from './changed.ts'

/** The orchestrator and the agents that a turn can reach, in their current configuration. */
export type RunnableAgents = { orchestrator: AgentConfig; agents: ReadonlyMap<string, AgentConfig> }

/** Ids of the first agents of a turn; `agentId` replaces the orchestrator. */
export type AgentSelection = {
  agentId?: string | undefined
  targets?: readonly (string | undefined)[]
}

type Uses = {
  agents: Pick<View<AgentView>, 'get'>
  organizations: Pick<View<OrganizationView>, 'get'>
  /** Changed documents of any read model, as this node sees them. */
  changes: Observable<readonly Changed[]>
  /** Another node may be the one that projects. */
  sharedViews: boolean
  /** Characters of all agents in the cache; those of one organization fit by far. */
  mostCharacters?: number
}

/** What another node's projecting may leave stale here. */
const sharedTtlMs = 5_000
/**
 * The clock of the cache is read this often: at every use it would cost a timer each millisecond.
 */
const clockMs = 100
const mostOrganizations = 1_000
const usualCharacters = 128 * 1024 * 1024
/** Of one organization; they share their agents. */
const mostTeams = 8

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
  ...(view.credentials ? { credentials: view.credentials.map(wordsOf) } : {}),
  subAgents: [...view.sub_agents],
  datastoreIds: [...view.datastore_ids],
  temperature: view.temperature,
  maxTokens: view.max_tokens,
  outputKey: view.output_key,
  maxIterations: view.max_iterations,
  exitCondition: view.exit_condition,
  ...(view.keyword_tools === undefined ? {} : { keywordTools: view.keyword_tools }),
  ...(view.limits ? { limits: limitsIn(view.limits) } : {}),
})

/** An agent, if the organization has it, and its size in characters. */
type Read = Sized<AgentConfig | undefined>

/** The size is 0 until the agent is read. */
type CachedAgent = { reading: Promise<Read>; bytes: number }

/** Cached agents of an organization. `changes` counts changes of cached agents. */
type OrganizationCache = {
  orchestratorId: string
  agents: Map<string, CachedAgent>
  teams: LRUCache<string, RunnableAgents>
  characters: number
  changes: number
}

const organizationCache = (orchestratorId: string): OrganizationCache => ({
  orchestratorId,
  agents: new Map(),
  teams: new LRUCache({ max: mostTeams }),
  characters: 1,
  changes: 0,
})

/** By the ids that are asked for. */
const teamKey = (ids: readonly string[]): string => ids.join(' ')

const forget = (cache: OrganizationCache, id: string): void => {
  cache.characters -= cache.agents.get(id)?.bytes ?? 0
  cache.agents.delete(id)
  cache.changes++
  for (const [key, { agents }] of cache.teams.entries()) if (agents.has(id)) cache.teams.delete(key)
}

/**
 * The agents that a turn can reach: its first agents and all that they run. Each is cached until it
 * changes, so a change costs one document read. A turn keeps the agents that it started with.
 * @throws agent_not_found where there is no orchestrator, stream_unreadable
 */
export const findAgents = (uses: Uses) => {
  const { agents, organizations, changes, sharedViews, mostCharacters = usualCharacters } = uses
  const caches = new LRUCache<string, OrganizationCache>({
    max: mostOrganizations,
    maxSize: mostCharacters,
    ttl: (sharedViews ? sharedTtlMs : ownTtlMs) - clockMs,
    ttlResolution: clockMs,
    noUpdateTTL: true,
  })
  const watching = changes.subscribe((batch) => {
    for (const { view, changes, anew } of batch) {
      if (anew && (view === 'agents' || view === 'organizations')) caches.clear()
      if (view === 'agents') for (const change of changes) changed(change)
    }
  })

  const changed = ({ id, document }: DocumentChange): void => {
    const owner = document?.organization_id
    const owners = typeof owner === 'string' ? [caches.peek(owner)] : caches.values()
    for (const cache of owners) if (cache?.agents.has(id)) forget(cache, id)
  }

  /** Set over itself, a value would keep its size of before; its time goes on. */
  const resize = (organizationId: string, cache: OrganizationCache): void => {
    const ttl = caches.getRemainingTTL(organizationId)
    caches.delete(organizationId)
    if (ttl > 0) caches.set(organizationId, cache, { size: cache.characters, ttl })
  }

  /** Concurrent callers share reads. */
  const agentOf = (organizationId: string, cache: OrganizationCache, id: string): Promise<Read> => {
    const cached = cache.agents.get(id)
    if (cached) return cached.reading
    const readAgent = async (): Promise<Read> => {
      const view = await agents.get(id)
      if (view?.organization_id !== organizationId) return { value: undefined, bytes: 0 }
      // The unreadable event may have removed a right of an agent.
      if (view.incomplete) throw refusal('stream_unreadable')
      return { value: configOf(view), bytes: JSON.stringify(view).length }
    }
    const entry: CachedAgent = { reading: readAgent(), bytes: 0 }
    cache.agents.set(id, entry)
    const isCurrent = () => cache.agents.get(id) === entry
    entry.reading.then(
      (read) => {
        if (!isCurrent()) return
        if (!read.value) {
          cache.agents.delete(id)
          return
        }
        entry.bytes = read.bytes
        cache.characters += read.bytes
        if (caches.peek(organizationId) === cache) resize(organizationId, cache)
      },
      () => {
        if (isCurrent()) cache.agents.delete(id)
      },
    )
    return entry.reading
  }

  const rootIds = (
    cache: OrganizationCache,
    { agentId, targets = [] }: AgentSelection,
  ): string[] => [agentId ?? cache.orchestratorId, ...targets.filter((id) => id !== undefined)]

  /** Level by level, so that every sub-agent of the agents read is included. */
  const readTeam = async (
    organizationId: string,
    selection: AgentSelection,
  ): Promise<RunnableAgents> => {
    const cache = caches.get(organizationId) ?? (await openCache(organizationId))
    const before = cache.changes
    const ids = rootIds(cache, selection)
    const all = new Map<string, AgentConfig>()
    const seen = new Set(ids)
    for (let level = [...seen]; level.length > 0; ) {
      const below: string[] = []
      const parts = inParts(level, (id) => agentOf(organizationId, cache, id), {
        bytes: Infinity,
        items: Infinity,
      })
      for await (const part of parts)
        for (const agent of part) {
          if (!agent) continue
          all.set(agent.agentId, agent)
          for (const id of agent.subAgents) {
            if (seen.has(id)) continue
            seen.add(id)
            below.push(id)
          }
        }
      level = below
    }
    const { value: orchestrator } = await agentOf(organizationId, cache, cache.orchestratorId)
    if (!orchestrator) throw refusal('agent_not_found')
    const team = { orchestrator, agents: all }
    // An unknown id may be created later.
    const isWhole = ids.every((id) => all.has(id))
    if (isWhole && cache.changes === before) cache.teams.set(teamKey(ids), team)
    return team
  }

  const openCache = async (organizationId: string): Promise<OrganizationCache> => {
    const organization = await organizations.get(organizationId)
    const orchestratorId = organization?.orchestrator_agent_id
    if (orchestratorId === undefined) throw refusal('agent_not_found')
    const meanwhile = caches.get(organizationId)
    if (meanwhile) return meanwhile
    const cache = organizationCache(orchestratorId)
    caches.set(organizationId, cache, { size: cache.characters })
    return cache
  }

  return {
    async find(organizationId: string, selection: AgentSelection = {}): Promise<RunnableAgents> {
      const cache = caches.get(organizationId)
      return (
        cache?.teams.get(teamKey(rootIds(cache, selection))) ?? readTeam(organizationId, selection)
      )
    },
    close: () => watching.unsubscribe(),
  }
}
export type FindAgents = ReturnType<typeof findAgents>['find']
