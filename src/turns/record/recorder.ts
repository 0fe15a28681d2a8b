import type { AgentCompleted, AgentEvent, ToolCompleted } from '../../agents/agent-event.ts'
import type { Sealed } from '../../domain/sealed.ts'
import type { SessionEvent } from '../../domain/session/events.ts'
import type { ToolCall } from '../../ports/model.ts'
import { failureCodeOf } from '../failure-code.ts'
import { digestOf } from './arguments-digest.ts'

type Run = { runId: string; seal(text: string): Sealed }
type StepFactory = (event: never, run: Run) => SessionEvent | undefined
type StepFactories = {
  [E in AgentEvent['event']]: (
    event: AgentEvent & { event: E },
    run: Run,
  ) => SessionEvent | undefined
}

const nothing = () => undefined

const sealedCall = ({ id, name, arguments: text }: ToolCall, seal: Run['seal']) => ({
  id,
  name,
  arguments: seal(text),
})

const reachedIn = ({ reached }: ToolCompleted) => {
  if (!reached) return {}
  const { credentials, ...rest } = reached
  return { ...rest, ...(credentials ? { credentials: [...credentials] } : {}) }
}

const failedCallOf = (
  { at, model, duration_ms }: NonNullable<AgentCompleted['failed_call']>,
  error: string,
) => ({ failedCall: { at, model, durationMs: duration_ms, code: failureCodeOf(error) } })

const stepFactories: StepFactories = {
  agent_started: (
    { step_id, agent_id, agent, agent_type, depth, parent_agent, at },
    { runId },
  ) => ({
    type: 'AgentStarted',
    data: {
      runId,
      stepId: step_id,
      agentId: agent_id,
      agent,
      agentType: agent_type,
      depth,
      parentAgent: parent_agent,
      at,
    },
  }),
  agent_completed: (
    { step_id, agent, duration_ms, model, usage, charge, error, failed_call, at },
    { runId },
  ) => ({
    type: 'AgentCompleted',
    data: {
      runId,
      stepId: step_id,
      agent,
      durationMs: duration_ms,
      model,
      ...usage,
      ...(error === undefined ? {} : { error }),
      ...(error === undefined || !failed_call ? {} : failedCallOf(failed_call, error)),
      at,
      charge,
    },
  }),
  agent_routing: ({ from_agent, to_agent, at }, { runId }) => ({
    type: 'AgentRouted',
    data: { runId, fromAgent: from_agent, toAgent: to_agent, at },
  }),
  tool_started: (
    { tool_id, tool_name, agent_name, arguments: text, at, effect },
    { runId, seal },
  ) => ({
    type: 'ToolStarted',
    data: {
      runId,
      toolId: tool_id,
      tool: tool_name,
      agent: agent_name,
      arguments: seal(text),
      at,
      effect,
      argumentsDigest: digestOf(text),
    },
  }),
  tool_completed: (event, { runId, seal }) => ({
    type: 'ToolCompleted',
    data: {
      runId,
      toolId: event.tool_id,
      tool: event.tool_name,
      agent: event.agent_name,
      ok: event.ok,
      at: event.at,
      outcome: event.outcome,
      result: seal(event.content),
      durationMs: event.duration_ms,
      ...reachedIn(event),
    },
  }),
  model_answered: (event, { runId, seal }) => ({
    type: 'ModelAnswered',
    data: {
      runId,
      at: event.at,
      agent: event.agent,
      model: event.model,
      price: event.price,
      ...event.usage,
      finishReason: event.finish_reason,
      text: seal(event.text),
      ...(event.calls.length > 0
        ? { calls: event.calls.map((call) => sealedCall(call, seal)) }
        : {}),
      ...(event.cut_by ? { cutBy: event.cut_by } : {}),
      ...(event.duration_ms === undefined ? {} : { durationMs: event.duration_ms }),
    },
  }),
  // Stored with the pause of the run.
  approval_required: nothing,
  tool_in_doubt: nothing,
  payment_required: nothing,
  token: nothing,
  branches_began: nothing,
  branch_ended: nothing,
  token_agent: nothing,
  model_called: nothing,
  done: nothing,
}

/** Whether an event is stored at all. */
export const isStep = ({ event }: AgentEvent): boolean => stepFactories[event] !== nothing

/**
 * The stored event of each step of a turn, if it has one; messages and the end are the commands'.
 */
export const stepsOf = (runId: string, seal: (text: string) => Sealed) => {
  const run: Run = { runId, seal }
  return (event: AgentEvent): SessionEvent | undefined =>
    (stepFactories[event.event] as StepFactory)(event as never, run)
}
