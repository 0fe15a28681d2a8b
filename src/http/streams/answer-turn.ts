import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TurnDone } from '../../agents/agent-event.ts'
import { isAnswered, type LiveTurn, type Outcome, refusalOf } from '../../turns/turn.ts'
import { isBearer } from '../checks/authenticate.ts'
import type { AgentEvents, ChatStream } from './chat-format.ts'
import { endingOf, sendStream, whenGone } from './sse.ts'

/** How long an answer waits for its turn to begin, so that a refusal still has its own status. */
const beginMs = 150

const stockAgents = /ai-sdk\/|OpenAI\//

/**
 * Clients of OpenAI's API fail on objects without `choices`; by default they get events inside
 * chunks. A Bearer key means such a client, as not every SDK names itself.
 */
const agentEventsFor = ({ headers }: FastifyRequest, requested?: AgentEvents): AgentEvents => {
  if (requested) return requested
  const isStock = headers['x-stainless-lang'] || stockAgents.test(headers['user-agent'] ?? '')
  return isStock || isBearer(headers) ? 'chunk' : 'plain'
}

/** Clients of .NET pass over an error in a stream, and take its end for success. */
export const closesOnError = (
  { headers }: FastifyRequest,
  onError?: 'close' | 'frame' | null,
): boolean => (onError ? onError === 'close' : (headers['user-agent']?.includes('.NET') ?? false))

/** What a request says of its stream. */
type StreamOptions = {
  agent_events?: AgentEvents | undefined
  on_error?: 'close' | 'frame' | null | undefined
}

/**
 * How a request is shown what agents do, and what fails. Tokens of parallel agents mingle only for
 * clients that can tell them apart: those that get plain events, or asked for chunks.
 */
export const streamOptions = (
  request: FastifyRequest,
  { agent_events: requested, on_error }: StreamOptions = {},
): Pick<ChatStream, 'agentEvents' | 'mingles' | 'closesOnError'> => {
  const agentEvents = agentEventsFor(request, requested)
  const mingles = agentEvents === 'plain' || requested === 'chunk'
  return { agentEvents, mingles, closesOnError: closesOnError(request, on_error) }
}

/**
 * Cancels the turn when its client disconnects, if the client asked for that; otherwise it
 * continues.
 */
export const onGone = (reply: FastifyReply, turn: LiveTurn, cancels: boolean): void => {
  if (cancels) whenGone(reply, turn.cancel)
}

/** What a turn came to. @throws the refusal that it failed with, turn_cancelled */
export const doneIn = (outcome: Outcome): TurnDone => {
  if (isAnswered(outcome)) return outcome.done
  throw refusalOf(outcome)
}

/** The end of a turn, once it is stored. @throws the refusal that it failed with, turn_cancelled */
export const doneOf = async ({ outcome }: LiveTurn): Promise<TurnDone> => doneIn(await outcome)

/** A turn once it has begun, or a moment later while it waits for others. @throws Refusal */
export const waitForStart = (turn: LiveTurn): Promise<LiveTurn> =>
  new Promise((resolve, reject) => {
    const soon = setTimeout(resolve, beginMs, turn)
    turn.started.then(
      (startedTurn) => {
        clearTimeout(soon)
        resolve(startedTurn)
      },
      (error: unknown) => {
        clearTimeout(soon)
        reject(error)
      },
    )
  })

type Streamed = {
  turn: LiveTurn
  framesOf(turn: LiveTurn, ending: AbortSignal): AsyncGenerator<string | Uint8Array>
  /** The client wants the turn cancelled when it disconnects. */
  cancels: boolean
}

/**
 * Streams a turn. An early refusal is answered with its own status; while the turn waits for
 * others, the headers are sent, and a later refusal is an item of the stream.
 */
export const streamTurn = async (
  request: FastifyRequest,
  reply: FastifyReply,
  { turn, framesOf, cancels }: Streamed,
) => {
  const ending = endingOf(reply)
  onGone(reply, turn, cancels)
  const startedTurn = await waitForStart(turn)
  request.streamedRun = startedTurn.runId
  return sendStream(reply, framesOf(startedTurn, ending))
}
