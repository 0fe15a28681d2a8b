import { Observable, type Subscriber } from 'rxjs'
import { chargeOf, saturate } from '../domain/amounts.ts'
import type { Clock } from '../ports/clock.ts'
import type { Usage } from '../ports/model.ts'
import { isoTime } from '../support/iso-time.ts'
import { relayed } from '../support/relayed.ts'
import { sinceStored, stopwatch } from '../support/stopwatch.ts'
import { type AgentConfig, AgentFault, type AgentType, Paused } from './agent.ts'
import type { AgentAnswer, AgentCompleted, AgentEvent, AgentStarted } from './agent-event.ts'
import type {
  AgentKind,
  AgentStep,
  BodyEvent,
  ModelFailed,
  RunLimits,
  Runtime,
  RuntimePorts,
} from './agent-kind.ts'
import type { RecordedStep } from './journal.ts'
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

/** Receives the events of an agent, and its end. */
type Listener = {
  next(event: AgentEvent): void
  error(error: unknown): void
  complete(): void
}

/** Starts an agent; its events go to the listener for as long as the subscription lasts. */
export type StartAgent = (
  agent: AgentConfig,
  place: Place,
  subscriber: Subscriber<AgentEvent>,
  listener?: Listener,
) => void

/** An agent that has started, and what its models have used. */
type StartedAgent = {
  agent: AgentConfig
  step: AgentStep
  recorded: RecordedStep | undefined
  startedAt: Date
  /** Milliseconds since it started, without those between two attempts. */
  elapsed(): number
  usage: Usage
  charge: number
  model: string | null
  failedCall?: ModelFailed
}

/** The recorded step at this place, of a run that is resumed. @throws AgentFault */
const recordedStep = (
  agent: AgentConfig,
  { at, journal, depth, resume }: Place,
  limits: RunLimits,
): RecordedStep | undefined => {
  if (depth > limits.depth)
    throw new AgentFault(`${agent.name} is more than ${limits.depth} levels deep`)
  if (resume && resume.agentId !== agent.agentId)
    throw new AgentFault('an agent has changed while it waited for the client')
  const recorded = journal.stepAt(at)
  if (recorded && recorded.agentId !== agent.agentId)
    throw new AgentFault('the agents have changed since the run began')
  return recorded
}

const startedAgent = (
  agent: AgentConfig,
  place: Place,
  recorded: RecordedStep | undefined,
  clock: Clock,
): StartedAgent => {
  const { turn, at, journal, depth, parent, outputs, budget, callIds } = place
  const { final, resume, exitLoop } = place
  const stepId = recorded?.stepId ?? clock.id()
  const startedAt = recorded?.startedAt ?? clock.now()
  const elapsed = stopwatch(clock, recorded && sinceStored(clock, startedAt))
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
  return { agent, step, recorded, startedAt, elapsed, usage: noUsage, charge: 0, model: null }
}

const agentStarted = ({ agent, step, recorded, startedAt }: StartedAgent): AgentStarted => {
  const event: AgentStarted = {
    event: 'agent_started',
    agent: agent.name,
    agent_id: agent.agentId,
    step_id: step.stepId,
    at: step.at,
    agent_type: agent.agentType,
    depth: step.depth,
    parent_agent: step.parent,
    timestamp: isoTime(startedAt.getTime()),
  }
  if (recorded) event.replayed = true
  return event
}

const agentCompleted = (
  { agent, step, recorded, elapsed, usage, charge, model }: StartedAgent,
  clock: Clock,
  answer: AgentAnswer | null,
): AgentCompleted => {
  const event: AgentCompleted = {
    event: 'agent_completed',
    agent: agent.name,
    agent_id: agent.agentId,
    step_id: step.stepId,
    at: step.at,
    duration_ms: elapsed(),
    usage,
    charge,
    model,
    answer,
    timestamp: isoTime(clock.now().getTime()),
  }
  if (recorded?.completed) event.replayed = true
  return event
}

const agentFailed = (started: StartedAgent, clock: Clock, error: unknown): AgentCompleted => {
  const event = agentCompleted(started, clock, null)
  event.error = error instanceof Error ? error.name : 'Error'
  if (started.failedCall) {
    const { at, model, duration_ms } = started.failedCall
    event.failed_call = { at, model, duration_ms }
  }
  return event
}

/** Counts what the agent itself has used; the agents below count theirs. */
const countUsage = (started: StartedAgent, event: AgentEvent): void => {
  if (event.event !== 'model_answered' || event.step_id !== started.step.stepId) return
  started.usage = plus(started.usage, event.usage)
  started.charge = saturate(started.charge + chargeOf(event.usage, event.price))
  started.model = event.model
}

/** Passes the events of an agent's body on, and makes `agent_completed` of its end. */
const relayBody = (
  body: Observable<BodyEvent>,
  started: StartedAgent,
  clock: Clock,
  subscriber: Subscriber<AgentEvent>,
  listener: Listener,
): void =>
  relayed(body, subscriber, {
    next(event) {
      if (event.event === 'answered') {
        listener.next(agentCompleted(started, clock, event.answer))
        return
      }
      if (event.event === 'model_failed') {
        started.failedCall = event
        return
      }
      countUsage(started, event)
      listener.next(event)
    },
    error(error) {
      // A paused agent continues in another attempt.
      if (!(error instanceof Paused)) listener.next(agentFailed(started, clock, error))
      listener.error(error)
    },
    complete: () => listener.complete(),
  })

/**
 * Runs one agent of any type between its agent_started and agent_completed; nothing when the run
 * has no step left.
 */
export const agentRun = (ports: RuntimePorts, limits: RunLimits): StartAgent => {
  const { clock } = ports
  const startAgent: StartAgent = (agent, place, subscriber, listener = subscriber) => {
    const recorded = recordedStep(agent, place, limits)
    if (!recorded && !place.budget.takeStep()) {
      listener.complete()
      return
    }
    const started = startedAgent(agent, place, recorded, clock)
    listener.next(agentStarted(started))
    const body = kinds[agent.agentType](agent, started.step, runtime)
    relayBody(body, started, clock, subscriber, listener)
  }
  const runtime: Runtime = {
    ...ports,
    limits,
    run: (agent, parent, step) =>
      new Observable((subscriber) =>
        startAgent(agent, { ...step, depth: step.depth + 1, parent: parent.name }, subscriber),
      ),
  }
  return startAgent
}
