import { NEVER, type Observable } from 'rxjs'
import type { RunView } from '../../../projections/runs.ts'
import type { AgentConfig } from '../../agents/agent.ts'
import type { RuntimePorts } from '../../agents/agent-kind.ts'
import { agentEvents } from '../../domain/agent/events.ts'
import {
  type Agents,
  organizationAgents,
  organizationAgentsStream,
} from '../../domain/agent/organization-agents.ts'
import { evolved } from '../../domain/aggregate.ts'
import type { Position } from '../../domain/event.ts'
import { Refusal, refusal } from '../../domain/refusal.ts'
import { decoder } from '../../event-sourcing/codec.ts'
import type { EventStore } from '../../ports/event-store.ts'
import type { Models } from '../../ports/model.ts'
import type { SealedBlobs } from '../../security/sealed-blobs.ts'
import { sessionKey, type Vault } from '../../security/vault.ts'
import { yieldToEventLoop } from '../../support/yield-to-event-loop.ts'
import { openedRequest } from '../begin/stored-request.ts'
import { recordedRun } from '../resume/recorded-run.ts'
import { compared } from './compare-replays.ts'
import { readTurn } from './recorded-turn.ts'
import { type Replay, replayTurn } from './replay.ts'
import {
  type Configured,
  callsIn,
  onlyAnswer,
  toolsWithoutServers,
  turnOf,
} from './replayed-turn.ts'

type Uses = Pick<RuntimePorts, 'clock' | 'textMisfitOf' | 'toolsOf'> & {
  read: EventStore['read']
  vault: Pick<Vault, 'found'>
  blobs: SealedBlobs
  findRun(runId: string): Promise<RunView | undefined>
  models: Models
  limits: { modelCalls: number; steps: number }
}

export type ReplayRequest = {
  organizationId: string
  runId: string
  /** Models are asked; else each gives its recorded answer. */
  live: boolean
  /** In place of those that agents have, by agent. */
  instructions: Readonly<Record<string, string>>
  /** Emits when nobody waits for it any more. */
  disconnect?: Observable<unknown>
}

const decode = decoder(agentEvents)

const configured = (agents: Agents): Configured =>
  new Map(Object.entries(agents).map(([agentId, agent]) => [agentId, { ...agent, agentId }]))

/** @throws agent_not_found */
const instructed = (
  agents: Configured,
  instructions: ReplayRequest['instructions'],
): Configured => {
  const changed = new Map(agents)
  for (const [agentId, instruction] of Object.entries(instructions)) {
    const agent = agents.get(agentId)
    if (!agent) throw refusal('agent_not_found')
    changed.set(agentId, { ...agent, instruction })
  }
  return changed
}

type AgentsThen = { before: Configured; now: Configured }

/** A draft stands for its agent, before and now. */
const withDraft = ({ before, now }: AgentsThen, draft: AgentConfig | undefined): AgentsThen => {
  if (!draft) return { before, now }
  const { agentId } = draft
  return {
    before: new Map(before).set(agentId, draft),
    now: new Map(now).set(agentId, draft),
  }
}

/**
 * Replays an ended run with the agents that it had and with those of today, and lists the
 * differences. It changes nothing, charges nothing and calls no tool. @throws run_not_found,
 * run_not_replayable, agent_not_found
 */
export const replayRun = (uses: Uses) => {
  const { read, vault, findRun, clock, textMisfitOf, limits } = uses
  const turnIn = readTurn({ read, vault })

  /** An organization's agents as they were at a position, and as they are. */
  const agentsAt = async (organizationId: string, position: Position) => {
    const { name } = organizationAgentsStream(organizationId)
    let now = organizationAgents.initial
    let before = now
    for await (const batch of read(name))
      for (const event of batch.map(decode)) {
        now = evolved(organizationAgents, now, [event])
        if (event.position < position) before = now
      }
    return { before: configured(before.agents), now: configured(now.agents) }
  }

  return async (request: ReplayRequest) => {
    const { organizationId, runId, live, disconnect = NEVER } = request
    const run = await findRun(runId)
    if (run?.organization_id !== organizationId) throw refusal('run_not_found')
    const recorded = await turnIn({ organizationId, sessionId: run.session_id, runId })
    if (!recorded?.started.attempt || recorded.started.kept === false)
      throw refusal('run_not_replayable')
    await yieldToEventLoop()
    const { key, events } = recorded
    const { draft } = openedRequest(key, recorded.started.request)
    const agents = withDraft(await agentsAt(organizationId, recorded.position), draft)
    const journal = recordedRun(runId, events, key.open)
    const calls = callsIn(recorded)
    const only = journal.used.modelCalls === 0 ? onlyAnswer(recorded) : undefined
    const common = {
      clock,
      textMisfitOf,
      toolsOf: toolsWithoutServers(uses.toolsOf, calls),
      calls,
      limits,
      disconnect,
    }
    const files = uses.blobs.under(sessionKey(organizationId, run.session_id))
    const replayWith = async (
      configuration: Configured,
      more: Pick<Parameters<typeof replayTurn>[1], 'answerAt' | 'models'>,
    ) =>
      replayTurn(
        turnOf(recorded, { organizationId, agents: configuration, files, at: clock.now() }),
        {
          ...common,
          ...more,
        },
      )
    const before = await replayWith(agents.before, {
      answerAt: (at) => only ?? journal.answerAt(at),
      models: undefined,
    })
    const [sole] = before.places.keys()
    const now = await replayWith(instructed(agents.now, request.instructions), {
      answerAt: (at) => (at === sole ? only : undefined) ?? journal.answerAt(at),
      models: live ? uses.models : undefined,
    }).catch((error: unknown): Replay => {
      if (!(error instanceof Refusal)) throw error
      return { places: new Map(), answer: '', error: error.code }
    })
    return { runId, sessionId: run.session_id, ...compared(before, now) }
  }
}
export type ReplayRun = ReturnType<typeof replayRun>
