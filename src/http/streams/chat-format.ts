import type { TurnDone } from '../../agents/agent-event.ts'
import type { LiveTurn } from '../../turns/turn.ts'
import { piecesOf } from './pieces.ts'
import type { StreamFormat } from './turn-frames.ts'

/**
 * How lifecycle events are shown: `plain`, an object with `event` and no `choices`; `chunk`, inside
 * a chunk that stock SDKs can read; `none`, not at all (docs/contract/streaming.md#agent-events).
 */
export type AgentEvents = 'plain' | 'chunk' | 'none'

export type ChatStream = {
  model: string
  agentEvents: AgentEvents
  /** Tokens of parallel agents come as they are said. */
  mingles: boolean
  includeUsage: boolean
  /** The connection is closed behind a failure: the client ignores it in a stream. */
  closesOnError: boolean
}

export const usageOf = ({ usage: { promptTokens, completionTokens } }: TurnDone) => ({
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
  total_tokens: promptTokens + completionTokens,
})

/** The tools that an answer called, in OpenAI's shape. */
export const toolCallsOf = ({ tool_calls }: TurnDone) =>
  tool_calls?.map(({ id, name, arguments: text }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: text },
  }))

type IndexedCall = NonNullable<ReturnType<typeof toolCallsOf>>[number] & { index: number }

/** A call as OpenAI streams it: id and name, then the arguments in pieces. */
const inPieces = ({ index, id, type, function: { name, arguments: text } }: IndexedCall) => [
  { index, id, type, function: { name, arguments: '' } },
  ...piecesOf(text).map((piece) => ({ index, function: { arguments: piece } })),
]

/**
 * The chat completion stream (docs/contract/streaming.md#chat-streams). Tokens are written without
 * a serializer.
 */
export const chatFormat = (turn: LiveTurn, options: ChatStream): StreamFormat => {
  const { runId, sessionId, created } = turn
  const { model, agentEvents, mingles, includeUsage } = options
  const head = `{"id":"chatcmpl-${runId}","object":"chat.completion.chunk","created":${created},"model":${JSON.stringify(model)},"choices":`
  const tail = `,"session_id":${JSON.stringify(sessionId)}}`

  const chunk = (delta: string, finishReason: string | null = null, more = ''): string =>
    `${head}[{"index":0,"delta":${delta},"finish_reason":${JSON.stringify(finishReason)}}]${more}${tail}`
  const callsChunk = (calls: readonly object[]): string =>
    chunk(`{"tool_calls":${JSON.stringify(calls)}}`)

  const carrier = `${head}[{"index":0,"delta":{},"finish_reason":null}],"agent_event":`

  return {
    inBranchOrder: !mingles,
    closesOnError: options.closesOnError,
    opening: chunk('{"role":"assistant","content":""}'),
    token: {
      before: `${head}[{"index":0,"delta":{"content":`,
      after: `},"finish_reason":null}]${tail}`,
    },
    end: (done) => {
      const calls = toolCallsOf(done)?.map((call, index) => ({ index, ...call })) ?? []
      const callChunks = calls.length > 0 ? [callsChunk(calls)] : [undefined]
      return [
        ...(done.waits ? calls.flatMap(inPieces).map((call) => callsChunk([call])) : callChunks),
        chunk(
          '{}',
          done.finish_reason,
          done.pending && `,"pending_approvals":${JSON.stringify(done.pending)}`,
        ),
        includeUsage ? `${head}[],"usage":${JSON.stringify(usageOf(done))}${tail}` : undefined,
      ]
    },
    lifecycle: (event) => {
      if (agentEvents === 'none') return undefined
      const text = JSON.stringify(event)
      return agentEvents === 'plain' ? text : `${carrier}${text}${tail}`
    },
  }
}
