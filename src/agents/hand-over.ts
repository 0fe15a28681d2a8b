import { concat, defer, type Observable, of, tap } from 'rxjs'
import { isoTime } from '../support/iso-time.ts'
import { type AgentConfig, AgentFault } from './agent.ts'
import type { AgentAnswer, AgentEvent, AgentOutput } from './agent-event.ts'
import type { AgentStep, BodyEvent, Runtime } from './agent-kind.ts'
import { following, paragraphs } from './paragraphs.ts'
import type { Suspended } from './suspended.ts'

/** Runs an agent below another; `take` gets its answer before its events end. */
export const answerOf = (
  agent: AgentConfig,
  parent: AgentConfig,
  step: AgentStep,
  runtime: Runtime,
  take: (answer: AgentAnswer) => void,
): Observable<AgentEvent> =>
  defer(() => {
    let last: AgentAnswer | null = null
    return runtime.run(agent, parent, step).pipe(
      tap({
        next: (event) => {
          if (event.event === 'agent_completed') last = event.answer
        },
        complete: () => {
          if (last) take(last)
        },
      }),
    )
  })

/** The sub-agents that may run. */
export const activeBelow = ({ subAgents }: AgentConfig, { turn }: AgentStep): AgentConfig[] =>
  subAgents.flatMap((agentId) => {
    const agent = turn.agents.get(agentId)
    return agent?.isActive ? [agent] : []
  })

/** @throws AgentFault when a container has no active sub-agent. */
export const someBelow = (agent: AgentConfig, step: AgentStep): AgentConfig[] => {
  const agents = activeBelow(agent, step)
  if (agents.length === 0) throw new AgentFault(`${agent.name} has no active sub-agent`)
  return agents
}

/**
 * An agent's final answer. `before` is what other agents said for it; it is then part of the
 * answer. `earlier` is what the agent itself said before it waited for the client.
 */
export const answerEvent = (
  { name, outputKey }: AgentConfig,
  { text, by = name, finishReason = 'stop', suspended }: Partial<AgentAnswer> & { text: string },
  before: readonly AgentOutput[] = [],
  earlier = '',
): BodyEvent => {
  const own = { agent: name, key: outputKey, text: paragraphs(earlier, text) }
  const outputs = before.length === 0 || outputKey !== null ? [...before, own] : before
  const answer: AgentAnswer = { text, by, finishReason, outputs }
  if (suspended) answer.suspended = suspended
  return { event: 'answered', answer }
}

/**
 * Where the turn is handed over: `below` where the other agent waited, `earlier` what was said
 * then.
 */
type Resumed = { below?: Suspended; earlier?: string }

/** Hands the turn over: the other agent's answer becomes this agent's answer. */
export const handedOver = (
  from: AgentConfig,
  to: AgentConfig,
  earlierText: string,
  step: AgentStep,
  runtime: Runtime,
  { below, earlier = '' }: Resumed = {},
): Observable<BodyEvent> =>
  defer(() => {
    const at = `${step.at}.t`
    const replayed = step.journal.isRouted(step.at)
    const place = { ...step, at, ...(step.resume ? { resume: below } : {}) }
    const timestamp = isoTime(runtime.clock.now().getTime())
    let answer: AgentAnswer | undefined
    return concat(
      of<AgentEvent>({
        event: 'agent_routing',
        at: step.at,
        from_agent: from.name,
        to_agent: to.name,
        timestamp,
        ...(replayed ? { replayed } : {}),
      }),
      following(
        earlierText,
        answerOf(to, from, place, runtime, (got) => {
          answer = got
        }),
      ),
      defer(() => {
        const { text = '', outputs = [], suspended, ...rest } = answer ?? {}
        const fullText = paragraphs(earlierText, text)
        const suspension: Partial<AgentAnswer> = suspended
          ? {
              suspended: {
                kind: 'transfer',
                agentId: from.agentId,
                said: paragraphs(earlier, fullText),
                below: suspended,
              },
            }
          : {}
        return of(answerEvent(from, { ...rest, text: fullText, ...suspension }, outputs, earlier))
      }),
    )
  })
