import { z } from 'zod'
import type { TurnDone } from '../../agents/agent-event.ts'
import type { Refusal } from '../../domain/refusal.ts'
import type { LiveTurn, Outcome } from '../../turns/turn.ts'
import { messageOf } from '../errors/facts.ts'
import { echoFields, type ResponseEcho } from './response-echo.ts'
import { responseId } from './responses.ts'

const itemStatus = z.enum(['in_progress', 'completed', 'incomplete'])

const outputText = z.object({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(z.unknown()),
  logprobs: z.array(z.unknown()),
})

const outputMessage = z.object({
  type: z.literal('message'),
  id: z.string(),
  status: itemStatus,
  role: z.literal('assistant'),
  content: z.array(outputText),
})

const functionCall = z.object({
  type: z.literal('function_call'),
  id: z.string(),
  call_id: z.string(),
  name: z.string(),
  arguments: z.string(),
  status: itemStatus,
})

const outputItem = z.discriminatedUnion('type', [outputMessage, functionCall])

export type OutputMessage = z.infer<typeof outputMessage>
export type FunctionCall = z.infer<typeof functionCall>

const usage = z.object({
  input_tokens: z.int(),
  input_tokens_details: z.object({ cached_tokens: z.int() }),
  output_tokens: z.int(),
  output_tokens_details: z.object({ reasoning_tokens: z.int() }),
  total_tokens: z.int(),
})

const statuses = [
  'queued',
  'in_progress',
  'completed',
  'incomplete',
  'cancelled',
  'failed',
] as const

export const responseObject = z
  .object({
    id: z.string(),
    object: z.literal('response'),
    created_at: z.int(),
    completed_at: z.int().nullable(),
    status: z.enum(statuses),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    incomplete_details: z.object({ reason: z.string() }).nullable(),
    output: z.array(outputItem),
    usage: usage.nullable(),
    conversation: z.object({ id: z.string() }).describe('The session'),
    ...echoFields,
  })
  .describe('The response; with stream: true, a stream of its events')

export type ResponseObject = z.infer<typeof responseObject>

/** The end of a turn with its answer. `at`: Unix seconds. */
type WithAnswer = { status: 'completed' | 'cancelled'; done: TurnDone; at?: number }

/** How far a turn is. */
export type Progress =
  | { status: 'queued' | 'in_progress' | 'cancelled' }
  | WithAnswer
  | { status: 'failed'; refusal: Refusal }

/**
 * A turn that waits for a decision is shown as one whose answer was cut off (`awaiting_approval`,
 * `in_doubt`).
 */
export const progressAt = (outcome: Outcome): Progress =>
  outcome.status === 'paused' ? { status: 'completed', done: outcome.done } : outcome

/** How far a turn is; its end is known once it is stored. */
export const progressOf = async (turn: LiveTurn): Promise<Progress> => {
  const outcome = await Promise.race([turn.outcome, undefined])
  if (outcome) return progressAt(outcome)
  if (turn.beginning) return { status: turn.queued ? 'queued' : 'in_progress' }
  // Its end is stored when it is its turn.
  return { status: turn.isCancelled?.() ? 'cancelled' : 'queued' }
}

/** The turn that a response belongs to. */
export type TurnRef = { runId: string; sessionId: string; created: number }

/** Why an answer was cut off. */
const cuts: Readonly<Record<string, string>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
}

const cutOf = ({ finish_reason, pending, in_doubt }: TurnDone): string | undefined => {
  if (in_doubt) return 'in_doubt'
  if (pending) return 'awaiting_approval'
  return Object.hasOwn(cuts, finish_reason) ? cuts[finish_reason] : undefined
}

const messageId = /^msg_([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/

/** The run whose answer an item is; undefined for other items. */
export const messageRun = (id: string): string | undefined => messageId.exec(id)?.[1]

export const outputMessageOf = (
  runId: string,
  text: string,
  status: OutputMessage['status'],
): OutputMessage => ({
  type: 'message',
  id: `msg_${runId}`,
  status,
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
})

type Call = NonNullable<TurnDone['tool_calls']>[number]

export const functionCallOf = ({ id, name, arguments: args }: Call): FunctionCall => ({
  type: 'function_call',
  id: id.replace(/^call_/, 'fc_'),
  call_id: id,
  name,
  arguments: args,
  status: 'completed',
})

/** The calls of the client's own tools; keyword tools are not shown. */
export const callsIn = ({ waits: needsResults, tool_calls = [] }: TurnDone): FunctionCall[] =>
  needsResults ? tool_calls.map(functionCallOf) : []

/**
 * Whether an answer has a message: nothing may have been said beside calls, or until it was
 * cancelled.
 */
export const hasMessage = (
  status: 'completed' | 'cancelled',
  { text, waits: needsResults }: TurnDone,
): boolean => text !== '' || (status === 'completed' && !needsResults)

type ResponseState = Pick<
  ResponseObject,
  'completed_at' | 'status' | 'error' | 'incomplete_details' | 'output' | 'usage'
>

const nothing: Omit<ResponseState, 'status'> = {
  completed_at: null,
  error: null,
  incomplete_details: null,
  output: [],
  usage: null,
}

const finishedState = (runId: string, { status, done, at }: WithAnswer): ResponseState => {
  const cut = status === 'completed' ? cutOf(done) : undefined
  const isComplete = status === 'completed' && cut === undefined
  const message = outputMessageOf(runId, done.text, isComplete ? 'completed' : 'incomplete')
  const { promptTokens, completionTokens } = done.usage
  return {
    ...nothing,
    status: cut === undefined ? status : 'incomplete',
    completed_at: isComplete ? (at ?? null) : null,
    incomplete_details: cut === undefined ? null : { reason: cut },
    output: [...(hasMessage(status, done) ? [message] : []), ...callsIn(done)],
    usage: {
      input_tokens: promptTokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: completionTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: promptTokens + completionTokens,
    },
  }
}

const stateOf = (runId: string, progress: Progress): ResponseState => {
  if ('done' in progress) return finishedState(runId, progress)
  if (!('refusal' in progress)) return { ...nothing, status: progress.status }
  const { refusal } = progress
  const error = { code: refusal.code, message: messageOf(refusal) }
  return { ...nothing, status: 'failed', error }
}

/** A turn in OpenAI's shape of a response. */
export const responseOf = (
  { runId, sessionId, created }: TurnRef,
  progress: Progress,
  echo: ResponseEcho,
): ResponseObject => ({
  id: responseId(runId),
  object: 'response',
  created_at: created,
  ...stateOf(runId, progress),
  conversation: { id: sessionId },
  ...echo,
})
