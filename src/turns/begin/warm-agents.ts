import { firstValueFrom } from 'rxjs'
import type { AgentConfig } from '../../agents/agent.ts'
import type { RuntimePorts } from '../../agents/agent-kind.ts'
import type { AgentTurn } from '../../agents/turn.ts'
import type { FindAgents, RunnableAgents } from '../../caches/find-agents.ts'
import { refusal } from '../../domain/refusal.ts'
import type { Call } from '../../ports/call.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Models } from '../../ports/model.ts'
import { stopwatch } from '../../support/stopwatch.ts'
import { failureCode } from '../failure-code.ts'

/**
 * Warmed instances are released after about an hour of inactivity (docs/contract/limits.md#times).
 */
const idleMs = 3_600_000

export type Warmed = {
  /** `built`: now, or by a build that was in progress; `warm`: it was built before. */
  status: 'built' | 'warm'
  tookMs: number
  subAgents: number
  tools: number
}

/** `configuration` is the agent as it was built, `usedAt` a moment of the monotonic clock. */
type Built = { ready: Promise<number>; done: boolean; configuration: string; usedAt: number }

type Uses = {
  findAgents: FindAgents
  toolsOf: RuntimePorts['toolsOf']
  models: Models
  clock: Clock
}

/**
 * Agents built for a user before the first message: the configuration is read, the model found and
 * the tools listed (MCP servers are asked); no model is called. An agent whose configuration has
 * changed is built again.
 */
export const warmAgents = ({ findAgents, toolsOf, models, clock }: Uses) => {
  const built = new Map<string, Built>()

  const instanceKey = (organizationId: string, userId: string, agentId: string): string =>
    `${organizationId}/${userId}/${agentId}`

  /** @throws model_misconfigured where the provider of the agent's model is not configured */
  const requireModel = ({ model }: AgentConfig): void => {
    try {
      models.resolve(model)
    } catch (error) {
      throw refusal(failureCode(error))
    }
  }

  const build = async (agent: AgentConfig, all: RunnableAgents, call: Call): Promise<number> => {
    requireModel(agent)
    const turn: AgentTurn = {
      call,
      agent,
      agents: all.agents,
      runId: '',
      sessionId: '',
      message: '',
      history: [],
    }
    return (await firstValueFrom(toolsOf(agent, turn))).length
  }

  const instance = (agent: AgentConfig, all: RunnableAgents, call: Call, userId: string) => {
    const key = instanceKey(call.organizationId, userId, agent.agentId)
    const usedAt = clock.monotonic()
    const configuration = JSON.stringify(agent)
    const known = built.get(key)
    if (known?.configuration === configuration) {
      known.usedAt = usedAt
      return { entry: known, warm: known.done }
    }
    const ready = build(agent, all, call)
    const entry: Built = { ready, done: false, configuration, usedAt }
    built.set(key, entry)
    entry.ready.then(
      () => {
        entry.done = true
      },
      () => built.delete(key),
    )
    return { entry, warm: false }
  }

  return {
    /** @throws the error that building failed with; the next message builds it again */
    async warm(call: Call, userId: string, agent?: AgentConfig): Promise<Warmed> {
      const elapsed = stopwatch(clock)
      const all = await findAgents(call.organizationId)
      const { orchestrator } = all
      const wanted = agent ? [orchestrator, agent] : [orchestrator]
      const instances = wanted.map((config) => instance(config, all, call, userId))
      const [tools = 0] = await Promise.all(instances.map(({ entry }) => entry.ready))
      return {
        status: instances.every(({ warm }) => warm) ? 'warm' : 'built',
        tookMs: elapsed(),
        subAgents: orchestrator.subAgents.length,
        tools,
      }
    },
    /** A turn is activity too: it keeps its agents warm. */
    used(organizationId: string, userId: string, agentId: string): void {
      if (built.size === 0) return
      const known = built.get(instanceKey(organizationId, userId, agentId))
      if (known) known.usedAt = clock.monotonic()
    },
    /** Forgets agents that were not used for an hour; answers how many. */
    release(): number {
      const before = clock.monotonic() - idleMs
      const idle = [...built].filter(([, { usedAt }]) => usedAt <= before)
      for (const [key] of idle) built.delete(key)
      return idle.length
    },
  }
}
export type WarmAgents = ReturnType<typeof warmAgents>
