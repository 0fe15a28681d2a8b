import type { Charge, TurnDone } from '../../agents/agent-event.ts'
import { saturate } from '../../domain/amounts.ts'
import { limitCode } from '../../domain/run-limits.ts'
import type { Sealed } from '../../domain/sealed.ts'
import type { RunEndType, SessionEvent } from '../../domain/session/events.ts'
import type { Keyed } from '../../security/vault.ts'
import { limitsOf, type TurnRequest } from '../turn.ts'
import type { RunResult } from './run-result.ts'

/** What a run has cost, and the agent that spoke last. */
export type RunCost = {
  promptTokens: number
  completionTokens: number
  charge: number
  agentId: string
  firstTokenMs?: number
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
export const costOf = (
  request: TurnRequest,
  { done: { usage, charges, agent }, firstTokenMs }: Pick<RunResult, 'done' | 'firstTokenMs'>,
): RunCost => ({
  promptTokens: usage.promptTokens,
  completionTokens: usage.completionTokens,
  charge: Math.min(
    charges.reduce((sum, { charge }) => saturate(sum + charge), 0),
    limitsOf(request).charge ?? Number.POSITIVE_INFINITY,
  ),
  agentId: agentOf(request, agent),
  ...(firstTokenMs === undefined ? {} : { firstTokenMs }),
})

/** What each model used, their charges adding up to that of the run. */
export const modelsOf = (charges: readonly Charge[], total: number) => {
  let left = total
  return charges.map(({ model, usage, price, charge: full }) => {
    const charge = Math.min(full, left)
    left -= charge
    return { model, ...usage, charge, price }
  })
}

type Answer = { runId: string; messageId: string; done: TurnDone; state: Sealed | undefined }

/** The events of an answer; with `state`, of one that calls the client's tools and waits. */
export const answerEvents = (
  { runId, messageId, done, state }: Answer,
  { seal }: Keyed,
): SessionEvent[] => {
  const answer = { messageId, runId, agent: done.agent, content: seal(done.text) }
  if (!state) return [{ type: 'AssistantMessageRecorded', data: answer }]
  const { tool_calls: calls = [] } = done
  const toolCalls = calls.map((call) => ({ ...call, arguments: seal(call.arguments) }))
  return [
    {
      type: 'ClientToolsCalled',
      data: { runId, calls: calls.map(({ id, name }) => ({ id, name })), state },
    },
    { type: 'AssistantMessageRecorded', data: { ...answer, toolCalls } },
  ]
}

type End = SessionEvent<RunEndType>

/**
 * The event that ends a run. Each answer of a model is charged, however the run ends; of one that
 * fails the call that failed is free. What was cancelled, or used up what its agent allows, keeps
 * what was said.
 */
export const endOf = (
  request: TurnRequest,
  runId: string,
  result: RunResult,
  durationMs: number,
): End => {
  const { status, done } = result
  const { charges } = done
  const cost = costOf(request, result)
  const isOfOne = status === 'done' && charges.length === 1
  const uses =
    charges.length > 0 && !isOfOne ? { ...cost, models: modelsOf(charges, cost.charge) } : cost
  if (status === 'timed_out') return { type: 'RunTimedOut', data: { runId, ...uses } }
  if (status === 'failed') {
    const { refusal: refused, cause } = result
    const failure = { code: refused.code, ...(cause === undefined ? {} : { cause }) }
    return { type: 'RunFailed', data: { runId, ...failure, ...uses } }
  }
  if (status === 'limited') return { type: 'RunFailed', data: { runId, code: limitCode, ...uses } }
  if (status === 'cancelled') return { type: 'RunCancelled', data: { runId, ...uses } }
  const { finish_reason: finishReason, tool_calls } = done
  const [first] = charges
  const model = first?.model ?? 'none'
  const data: SessionEvent<'RunCompleted'>['data'] = {
    runId,
    finishReason,
    model,
    durationMs,
    ...uses,
  }
  if (tool_calls) data.toolCalls = tool_calls.map(({ id, name }) => ({ id, name }))
  if (first && isOfOne) data.price = first.price
  return { type: 'RunCompleted', data }
}

/** What is recorded of the limit that ended a run, before its end. */
export const limitEvent = (
  runId: string,
  result: RunResult,
): SessionEvent<'RunLimitReached'> | undefined => {
  const limit = result.status === 'limited' ? result.limit : result.done.limit
  return limit && { type: 'RunLimitReached', data: { runId, ...limit } }
}
