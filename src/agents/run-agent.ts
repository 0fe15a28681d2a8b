import { Observable } from 'rxjs'
import type { Usage } from '../ports/model.ts'
import { relayed } from '../support/relayed.ts'
import { type AgentConfig, AgentFault, type AgentType } from './agent.ts'
import type { AgentAnswer, AgentCompleted, AgentEvent } from './agent-event.ts'
import type { AgentKind, AgentStep, RunLimits, Runtime, RuntimePorts } from './agent-kind.ts'
import { llmAgent } from './llm-agent.ts'
import { loopAgent } from './loop-agent.ts'
import { parallelAgent } from './parallel-agent.ts'
import { Paused } from './paused.ts'
import { sequentialAgent } from './sequential-agent.ts'
import { noUsage, plus } from './token-meter.ts'

/** How each type of agent works. */
const kinds: Record<AgentType, AgentKind> = {
  LLM_AGENT: llmAgent,
  SEQUENTIAL_AGENT: sequentialAgent,
  PARALLEL_AGENT: parallelAgent,
  LOOP_AGENT: loopAgent,
}

type Place = Omit<AgentStep, 'stepId'>

/**
 * Runs one agent of any type between its agent_started and agent_completed; nothing when the run
 * has no step left.
 */
export const agentRun = (ports: RuntimePorts, limits: RunLimits) => {
  const { clock } = ports

  const run = (agent: AgentConfig, place: Place): Observable<AgentEvent> =>
    new Observable((subscriber) => {
      const { at, journal, depth, parent, budget, resume } = place
      if (depth > limits.depth)
        throw new AgentFault(`${agent.name} is more than ${limits.depth} levels deep`)
      if (resume && resume.agentId !== agent.agentId)
        throw new AgentFault('an agent has changed while it waited for the client')
      const recorded = journal.stepAt(at)
      if (recorded && recorded.agentId !== agent.agentId)
        throw new AgentFault('the agents have changed since the run began')
      if (!recorded && !budget.takeStep()) {
        subscriber.complete()
        return
      }
      const stepId = recorded?.stepId ?? clock.id()
      const began = recorded?.startedAt ?? clock.now()
      const names = { agent: agent.name, agent_id: agent.agentId, step_id: stepId, at }
      let usage: Usage = noUsage
      let model: string | null = null

      const completed = (answer: AgentAnswer | null, error?: unknown): AgentCompleted => {
        const now = clock.now()
        return {
          event: 'agent_completed',
          ...names,
          duration_ms: now.getTime() - began.getTime(),
          usage,
          model,
          answer,
          ...(error === undefined ? {} : { error: error instanceof Error ? error.name : 'Error' }),
          timestamp: now.toISOString(),
          ...(recorded?.completed ? { replayed: true } : {}),
        }
      }

      subscriber.next({
        event: 'agent_started',
        ...names,
        agent_type: agent.agentType,
        depth,
        parent_agent: parent,
        timestamp: began.toISOString(),
        ...(recorded ? { replayed: true } : {}),
      })
      relayed(kinds[agent.agentType](agent, { ...place, stepId }, runtime), subscriber, {
        next(event) {
          if (event.event === 'answered') {
            subscriber.next(completed(event.answer))
            return
          }
          if (event.event === 'model_answered' && event.step_id === stepId) {
            usage = plus(usage, event.usage)
            model = event.model
          }
          subscriber.next(event)
        },
        error(error) {
          // It goes on in another attempt.
          if (!(error instanceof Paused)) subscriber.next(completed(null, error))
          subscriber.error(error)
        },
      })
    })

  const runtime: Runtime = {
    ...ports,
    limits,
    run: (agent, parent, step) =>
      run(agent, { ...step, depth: step.depth + 1, parent: parent.name }),
  }
  return run
}
