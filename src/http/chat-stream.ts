import type { TurnDone } from '../agents/agent-event.ts'
import { type ProblemCode, problems } from '../problems.ts'
import type { LiveTurn } from '../turns/turn.ts'
import type { TurnItem } from '../turns/turn-log.ts'
import { frame } from './sse.ts'

/**
 * How lifecycle events are shown: `plain` as documented (an object with `event`, no `choices`),
 * `chunk` as a carrier that stock SDKs can read, `none` not at all (decisions, section 3).
 */
export type AgentEvents = 'plain' | 'chunk' | 'none'

export type ChatStream = { model: string; agentEvents: AgentEvents; includeUsage: boolean }

/** Where a client is in a stream: item, part of that item, and characters of the answer so far. */
export type Place = { item: number; part: number; characters: number }

const beginning: Place = { item: 0, part: -1, characters: 0 }
const placePattern = /^(?<run>[\w-]+):(?<item>\d+)\.(?<part>\d+):(?<characters>\d+)$/

/** The place after a `Last-Event-ID`; from the start where it is absent or of another run. */
export const placeOf = (lastEventId: unknown, runId: string): Place => {
  const { run, item, part, characters } = String(lastEventId).match(placePattern)?.groups ?? {}
  if (run !== runId) return beginning
  return { item: Number(item), part: Number(part), characters: Number(characters) }
}

/** What of an event the documented table shows. */
export const lifecycleOf = (item: TurnItem): Record<string, unknown> | undefined => {
  switch (item.event) {
    case 'agent_started': {
      const { event, agent, agent_type, depth, parent_agent, timestamp } = item
      return { event, agent, agent_type, depth, parent_agent, timestamp }
    }
    case 'agent_completed': {
      const { event, agent, duration_ms, timestamp } = item
      return { event, agent, duration_ms, timestamp }
    }
    case 'tool_started':
    case 'tool_completed': {
      const { event, tool_name, tool_id, agent_name } = item
      return { event, tool_name, tool_id, agent_name }
    }
    case 'agent_routing':
    case 'token_agent':
    case 'payment_required':
      return item
    default:
      return undefined
  }
}

export const usageOf = ({ usage: { promptTokens, completionTokens } }: TurnDone) => ({
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
  total_tokens: promptTokens + completionTokens,
})

/** OpenAI's shape of the keyword tools that an answer called. */
export const toolCallsOf = ({ tool_calls }: TurnDone) =>
  tool_calls?.map(({ id, name, arguments: text }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: text },
  }))

/**
 * A turn as chat.completion.chunk frames. Every frame's id names its place, and the same turn gives
 * the same frames to whoever asks, so that a client continues exactly where it was.
 */
export const chatFrames = (turn: LiveTurn, { model, agentEvents, includeUsage }: ChatStream) => {
  const { runId, sessionId, created, log } = turn
  const head = `{"id":"chatcmpl-${runId}","object":"chat.completion.chunk","created":${created},"model":${JSON.stringify(model)},"choices":`
  const tail = `,"session_id":${JSON.stringify(sessionId)}}`

  const chunk = (delta: object, finishReason: string | null = null): string =>
    `${head}${JSON.stringify([{ index: 0, delta, finish_reason: finishReason }])}${tail}`
  const token = (text: string): string =>
    `${head}[{"index":0,"delta":{"content":${JSON.stringify(text)}},"finish_reason":null}]${tail}`
  const carrier = (event: object): string =>
    agentEvents === 'plain'
      ? JSON.stringify(event)
      : `${head}[],"agent_event":${JSON.stringify(event)}${tail}`

  const endOf = (done: TurnDone): (string | undefined)[] => {
    const calls = toolCallsOf(done)?.map((call, index) => ({ index, ...call }))
    return [
      calls && chunk({ tool_calls: calls }),
      chunk({}, done.finish_reason),
      includeUsage ? `${head}[],"usage":${JSON.stringify(usageOf(done))}${tail}` : undefined,
      '[DONE]',
    ]
  }

  /** The parts of one item; a part that this client is not shown keeps its number. */
  const partsOf = (item: TurnItem): (string | undefined)[] => {
    if (item.event === 'token') return [token(item.text)]
    if (item.event === 'done') return endOf(item)
    if (item.event === 'failed') {
      const { code, message } = item
      const type = problems[code as ProblemCode]?.type ?? 'server_error'
      return [JSON.stringify({ error: { message, type, code } }), '[DONE]']
    }
    const shown = agentEvents === 'none' ? undefined : lifecycleOf(item)
    return [shown && carrier(shown)]
  }

  return async function* (from: Place, signal?: AbortSignal): AsyncGenerator<string> {
    let { item: n, part: after, characters } = from
    // Place 0 is the opening chunk; the turn's items follow it.
    if (n === 0) {
      if (after < 0) yield frame(`${runId}:0.0:0`, chunk({ role: 'assistant', content: '' }))
      n = 1
      after = -1
    }
    for await (const items of log.follow(n - 1, signal)) {
      let text = ''
      for (const item of items) {
        const repeated = after >= 0
        if (item.event === 'token' && !repeated) characters += item.text.length
        partsOf(item).forEach((data, part) => {
          if (data && part > after) text += frame(`${runId}:${n}.${part}:${characters}`, data)
        })
        after = -1
        n++
      }
      if (text !== '') yield text
    }
  }
}
