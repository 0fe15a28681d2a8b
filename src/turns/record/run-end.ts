import type { TurnDone } from '../../agents/agent-event.ts'
import { saturate } from '../../domain/amounts.ts'
import { limitCode } from '../../domain/run-limits.ts'
import type { SessionEvent } from '../../domain/session/events.ts'
import type { RunResult } from '../run/agent-input.ts'
import type { TurnRequest } from '../turn.ts'
import { limitsOf } from '../turn.ts'

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
  for (const [agentId, candidate] of agents) if (candidate.name === name) return agentId
  return agent.agentId
}

/**
 * A run is never charged more than its agent allows, though a model's last answer may have cost
 * more.
 */
export const costOf = (request: TurnRequest, { usage, charges, agent }: TurnDone): RunCost => ({
  promptTokens: usage.promptTokens,
  completionTokens: usage.completionTokens,
  charge: Math.min(
    charges.reduce((sum, { charge }) => saturate(sum + charge), 0),
    limitsOf(request).charge ?? Number.POSITIVE_INFINITY,
  ),
  agentId: agentOf(request, agent),
})

type End = SessionEvent<'RunCompleted' | 'RunFailed' | 'RunCancelled' | 'RunTimedOut'>

/**
 * The event that ends a run. Each answer of a model is charged, however the run ends; of one that
 * fails the call that failed is free. What was cancelled, or used up what its agent allows, keeps
 * what was said.
 */
export const endOf = (
  request: TurnRequest,
  runId: string,
  driven: RunResult,
  durationMs: number,
): End => {
  const { ended, done } = driven
  const cost = costOf(request, done)
  if (ended === 'timed_out') return { type: 'RunTimedOut', data: { runId, ...cost } }
  if (ended === 'failed') {
    const { refusal: refused, cause } = driven
    const failure = { code: refused.code, ...(cause === undefined ? {} : { cause }) }
    return { type: 'RunFailed', data: { runId, ...failure, ...cost } }
  }
  if (ended === 'limited') return { type: 'RunFailed', data: { runId, code: limitCode, ...cost } }
  if (ended === 'cancelled') return { type: 'RunCancelled', data: { runId, ...cost } }
  const { finish_reason: finishReason, tool_calls, charges } = done
  const toolCalls = tool_calls?.map(({ id, name }) => ({ id, name }))
  const model = charges[0]?.model ?? 'none'
  return {
    type: 'RunCompleted',
    data: { runId, finishReason, ...(toolCalls ? { toolCalls } : {}), model, durationMs, ...cost },
  }
}

/** What is recorded of the limit that ended a run, before its end. */
export const limitEvent = (
  runId: string,
  driven: RunResult,
): SessionEvent<'RunLimitReached'> | undefined => {
  const limit = driven.ended === 'limited' ? driven.limit : driven.done.limit
  return limit && { type: 'RunLimitReached', data: { runId, ...limit } }
}
