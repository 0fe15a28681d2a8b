import type { AgentEvent } from '../agents/agent-event.ts'
import type { Sealed } from '../domain/sealed.ts'
import type { SessionEvent } from '../domain/session/events.ts'

type Run = { runId: string; seal(text: string): Sealed }
type Tell = (event: never, run: Run) => SessionEvent | undefined
type Tellers = {
  [E in AgentEvent['event']]: (
    event: AgentEvent & { event: E },
    run: Run,
  ) => SessionEvent | undefined
}

const nothing = () => undefined

const tellers: Tellers = {
  agent_started: ({ step_id, agent_id, agent, agent_type, depth, parent_agent }, { runId }) => ({
    type: 'AgentStarted',
    data: {
      runId,
      stepId: step_id,
      agentId: agent_id,
      agent,
      agentType: agent_type,
      depth,
      parentAgent: parent_agent,
    },
  }),
  agent_completed: ({ step_id, agent, duration_ms, model, usage, error }, { runId }) => ({
    type: 'AgentCompleted',
    data: {
      runId,
      stepId: step_id,
      agent,
      durationMs: duration_ms,
      model,
      ...usage,
      ...(error === undefined ? {} : { error }),
    },
  }),
  agent_routing: ({ from_agent, to_agent }, { runId }) => ({
    type: 'AgentRouted',
    data: { runId, fromAgent: from_agent, toAgent: to_agent },
  }),
  tool_started: ({ tool_id, tool_name, agent_name, arguments: text }, { runId, seal }) => ({
    type: 'ToolStarted',
    data: {
      runId,
      toolId: tool_id,
      tool: tool_name,
      agent: agent_name,
      arguments: seal(text),
    },
  }),
  tool_completed: ({ tool_id, tool_name, agent_name, ok }, { runId }) => ({
    type: 'ToolCompleted',
    data: { runId, toolId: tool_id, tool: tool_name, agent: agent_name, ok },
  }),
  payment_required: nothing,
  token: nothing,
  branches_began: nothing,
  branch_ended: nothing,
  token_agent: nothing,
  model_called: nothing,
  model_answered: nothing,
  done: nothing,
}

/** The stored event of each step of a turn, if it has one; messages and the end are the commands'. */
export const stepsOf = (runId: string, seal: (text: string) => Sealed) => {
  const run: Run = { runId, seal }
  return (event: AgentEvent): SessionEvent | undefined =>
    (tellers[event.event] as Tell)(event as never, run)
}
