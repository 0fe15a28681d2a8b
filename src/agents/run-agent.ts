import { Observable, type Subscriber } from 'rxjs'
import type { Usage } from '../ports/model.ts'
import { isoTime } from '../support/iso-time.ts'
import { relayed } from '../support/relayed.ts'
import { sinceStored, stopwatch } from '../support/stopwatch.ts'
import { type AgentConfig, AgentFault, type AgentType, Paused } from './agent.ts'
import type { AgentAnswer, AgentCompleted, AgentEvent, AgentStarted } from './agent-event.ts'
import type { AgentKind, AgentStep, RunLimits, Runtime, RuntimePorts } from './agent-kind.ts'
import { llmAgent } from './llm-agent.ts'
import { loopAgent } from './loop-agent.ts'
import { parallelAgent } from './parallel-agent.ts'
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

/** Who is told what an agent does, and how it ends. */
type Listener = {
  next(event: AgentEvent): void
  error(error: unknown): void
  complete(): void
}

/**
 * Runs one agent of any type between its agent_started and agent_completed; nothing when the run
 * has no step left.
 */
export const agentRun = (ports: RuntimePorts, limits: RunLimits) => {
  const { clock } = ports

  /** Tells a listener, as long as a subscription lasts. */
  const begin = (
    agent: AgentConfig,
    place: Place,
    subscriber: Subscriber<AgentEvent>,
    listener: Listener = subscriber,
  ): void => {
    const { turn, at, journal, depth, parent, outputs, budget, callIds } = place
    const { final, resume, exitLoop } = place
    if (depth > limits.depth)
      throw new AgentFault(`${agent.name} is more than ${limits.depth} levels deep`)
    if (resume && resume.agentId !== agent.agentId)
      throw new AgentFault('an agent has changed while it waited for the client')
    const recorded = journal.stepAt(at)
    if (recorded && recorded.agentId !== agent.agentId)
      throw new AgentFault('the agents have changed since the run began')
    if (!recorded && !budget.takeStep()) {
      listener.complete()
      return
    }
    const stepId = recorded?.stepId ?? clock.id()
    const began = recorded?.startedAt ?? clock.now()
    const elapsed = stopwatch(clock, recorded && sinceStored(clock, began))
    let usage: Usage = noUsage
    let model: string | null = null

    const completed = (answer: AgentAnswer | null, error?: unknown): AgentCompleted => {
      const event: AgentCompleted = {
        event: 'agent_completed',
        agent: agent.name,
        agent_id: agent.agentId,
        step_id: stepId,
        at,
        duration_ms: elapsed(),
        usage,
        model,
        answer,
        timestamp: isoTime(clock.now().getTime()),
      }
      if (error !== undefined) event.error = error instanceof Error ? error.name : 'Error'
      if (recorded?.completed) event.replayed = true
      return event
    }

    const started: AgentStarted = {
      event: 'agent_started',
      agent: agent.name,
      agent_id: agent.agentId,
      step_id: stepId,
      at,
      agent_type: agent.agentType,
      depth,
      parent_agent: parent,
      timestamp: isoTime(began.getTime()),
    }
    if (recorded) started.replayed = true
    listener.next(started)
    // Spelled out: a place may be the step of the agent above, whose id would win.
    const step: AgentStep = {
      turn,
      stepId,
      at,
      journal,
      depth,
      parent,
      outputs,
      budget,
      callIds,
      final,
      resume,
      exitLoop,
    }
    relayed(kinds[agent.agentType](agent, step, runtime), subscriber, {
      next(event) {
        if (event.event === 'answered') {
          listener.next(completed(event.answer))
          return
        }
        if (event.event === 'model_answered' && event.step_id === stepId) {
          usage = plus(usage, event.usage)
          model = event.model
        }
        listener.next(event)
      },
      error(error) {
        // It goes on in another attempt.
        if (!(error instanceof Paused)) listener.next(completed(null, error))
        listener.error(error)
      },
      complete: () => listener.complete(),
    })
  }

  const runtime: Runtime = {
    ...ports,
    limits,
    run: (agent, parent, step) =>
      new Observable((subscriber) =>
        begin(agent, { ...step, depth: step.depth + 1, parent: parent.name }, subscriber),
      ),
  }
  return begin
}
