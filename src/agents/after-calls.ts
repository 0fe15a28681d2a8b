import { concat, defer, type Observable, of } from 'rxjs'
import type { ChatMessage, ToolCall } from '../ports/model.ts'
import type { AgentConfig } from './agent.ts'
import type { AgentStep, BodyEvent, Runtime } from './agent-kind.ts'
import { callTools } from './call-tools.ts'
import { answerEvent, handedOver } from './hand-over.ts'
import { paragraphs } from './paragraphs.ts'
import type { Suspended } from './suspended.ts'
import { errorPrefix, type Tool, type ToolResult } from './tool.ts'
import { chosen, transferName } from './transfer.ts'
import type { ClientTools } from './turn.ts'

/** What the model is told when a call of `transfer_to_agent` names no agent that it may. */
const notTransferred = { ok: false, content: `${errorPrefix}there is no such agent` }

/** The result of a call of `transfer_to_agent` beside one of the client's tools. */
const notYetTransferred = {
  ok: false,
  content: `${errorPrefix}the other calls are answered first; call it again if it is still needed`,
}

const resultsAsMessages = (
  calls: readonly ToolCall[],
  results: readonly ToolResult[],
  otherwise = notTransferred,
) =>
  calls.map(
    ({ id, name }, n): ChatMessage => ({
      role: 'tool',
      toolCallId: id,
      name,
      content: (results[n] ?? otherwise).content,
    }),
  )

const isClients = ({ name }: ToolCall, { specs }: ClientTools): boolean =>
  specs.some((spec) => spec.name === name)

/** An LLM agent in its conversation with a model. */
export type Talk = {
  agent: AgentConfig
  step: AgentStep
  runtime: Runtime
  tools: readonly Tool[]
  /** Its sub-agents. */
  below: readonly AgentConfig[]
  /** How many messages the model was shown first. */
  opening: number
  /** What the agent said before it waited for the client. */
  earlier: string
}

/** An answer that asks for calls. `fullText` is the agent's text so far. */
type CallRequest = {
  at: string
  text: string
  fullText: string
  calls: readonly ToolCall[]
  /** What the model was shown. */
  messages: readonly ChatMessage[]
}

type Next = {
  /** Asks the model again, with the results. */
  again(messages: readonly ChatMessage[]): Observable<BodyEvent>
  /** Ends the agent with what it has said, since it has ended its loop. */
  leave(): Observable<BodyEvent>
}

/**
 * Makes the calls of an answer. Then hands the turn over, waits for the client, leaves the loop, or
 * asks the model again.
 */
export const afterCalls = (
  { agent, step, runtime, tools, below, opening, earlier }: Talk,
  { at, text, fullText, calls, messages }: CallRequest,
  { again, leave }: Next,
): Observable<BodyEvent> => {
  const { turn, budget, journal, exitLoop } = step
  const { clientTools } = turn
  const transfer = calls.find((call) => call.name === transferName)
  const target = transfer && chosen(transfer, below)
  const results: ToolResult[] = []
  const clients = clientTools ? calls.filter((call) => isClients(call, clientTools)) : []
  const own = calls.filter((call) => call.name !== transferName && !clients.includes(call))
  const placeOf = (call: ToolCall) => `${at}/${calls.indexOf(call)}`
  const { clock, limits } = runtime
  const uses = { agent, turn, tools, toolMs: limits.toolMs, budget, journal, clock, placeOf }
  return concat(
    callTools(own, uses, results),
    defer(() => {
      const isWaiting = clients.length > 0
      if (target && !isWaiting)
        return handedOver(agent, target, fullText, step, runtime, { earlier })
      const request: ChatMessage = { role: 'assistant', content: text, toolCalls: calls }
      const failed = calls.filter((call) => call.name === transferName)
      if (clientTools && isWaiting) {
        const others = resultsAsMessages([...own, ...failed], results, notYetTransferred)
        const suspended: Suspended = {
          kind: 'model',
          agentId: agent.agentId,
          said: paragraphs(earlier, fullText),
          messages: [...messages.slice(opening), request, ...others],
          open: clients.map((call) => ({ id: clientTools.callId(), at: calls.indexOf(call) })),
        }
        const answer = { text: fullText, finishReason: 'tool_calls', suspended } as const
        return of(answerEvent(agent, answer, [], earlier))
      }
      const hasLeft = own.some(
        ({ name }, n) => name === exitLoop?.spec.name && results[n]?.ok === true,
      )
      if (hasLeft) return leave()
      const answers = resultsAsMessages([...own, ...failed], results)
      return again([...messages, request, ...answers])
    }),
  )
}
