import type { TurnDone } from '../agents/agent-event.ts'
import type { SessionEvent } from '../domain/session/events.ts'
import type { Ended } from './given.ts'
import type { TurnRequest } from './turn.ts'

/** What a run has cost, and the agent that spoke last. */
export type RunCost = {
  promptTokens: number
  completionTokens: number
  charge: number
  agentId: string
}

/** The agent that spoke last, found by its name; the first of several with one name. */
const agentOf = ({ agent, agents }: TurnRequest, name: string): string => {
  if (name === agent.name) return agent.agentId
  for (const [agentId, one] of agents) if (one.name === name) return agentId
  return agent.agentId
}

export const costOf = (request: TurnRequest, { usage, charges, agent }: TurnDone): RunCost => ({
  ...usage,
  charge: charges.reduce((sum, { charge }) => sum + charge, 0),
  agentId: agentOf(request, agent),
})

type End = SessionEvent<'RunCompleted' | 'RunFailed' | 'RunCancelled' | 'RunTimedOut'>

/**
 * The event that ends a run. A failed run costs nothing; what a cancelled run has answered so far is kept
 * and charged.
 */
export const endOf = (
  request: TurnRequest,
  runId: string,
  driven: Ended,
  durationMs: number,
): End => {
  const { ended, done } = driven
  const cost = costOf(request, done)
  if (ended === 'timed_out') return { type: 'RunTimedOut', data: { runId, ...cost, charge: 0 } }
  if (ended === 'failed') {
    const { refusal: refused, cause } = driven
    const said = { code: refused.code, ...(cause === undefined ? {} : { cause }) }
    return { type: 'RunFailed', data: { runId, ...said, ...cost, charge: 0 } }
  }
  if (ended === 'cancelled') return { type: 'RunCancelled', data: { runId, ...cost } }
  const { finish_reason: finishReason, tool_calls, charges } = done
  const toolCalls = tool_calls?.map(({ id, name }) => ({ id, name }))
  const model = charges[0]?.model ?? 'none'
  return {
    type: 'RunCompleted',
    data: { runId, finishReason, ...(toolCalls ? { toolCalls } : {}), model, durationMs, ...cost },
  }
}
