import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TurnDone } from '../../agents/agent-event.ts'
import type { Ending } from '../../support/ending.ts'
import type { LiveTurn, Outcome } from '../../turns/turn.ts'
import type { AgentEvents, ChatStream } from './chat-format.ts'
import { endingOf, sendStream, whenGone } from './sse.ts'

/** How long an answer waits for its turn to begin, so that a refusal still has its own status. */
const beginMs = 150

/** Stock SDKs fail on objects without `choices`; by default they get events inside chunks. */
const agentEventsFor = ({ headers }: FastifyRequest, asked?: AgentEvents): AgentEvents => {
  if (asked) return asked
  const sdk = headers['x-stainless-lang'] || headers['user-agent']?.includes('ai-sdk/')
  return sdk ? 'chunk' : 'plain'
}

/**
 * How a request is shown what agents do. Tokens of parallel agents mingle only for clients that can
 * tell them apart: those that get plain events, or asked for chunks.
 */
export const shownAgents = (
  request: FastifyRequest,
  asked?: AgentEvents,
): Pick<ChatStream, 'agentEvents' | 'mingles'> => {
  const agentEvents = agentEventsFor(request, asked)
  return { agentEvents, mingles: agentEvents === 'plain' || asked === 'chunk' }
}

/**
 * Cancels the turn when its client disconnects, if the client asked for that; otherwise it
 * continues.
 */
export const onGone = (reply: FastifyReply, turn: LiveTurn, cancels: boolean): void => {
  if (cancels) whenGone(reply, turn.cancel)
}

/** What a turn came to. @throws the refusal that it failed with */
export const doneIn = (outcome: Outcome): TurnDone => {
  if (outcome.status === 'failed') throw outcome.refusal
  return outcome.done
}

/** The end of a turn, once it is stored. @throws the refusal that it failed with */
export const doneOf = async ({ outcome }: LiveTurn): Promise<TurnDone> => doneIn(await outcome)

/** A turn once it has begun, or a moment later while it waits for others. @throws Refusal */
export const begunSoon = (turn: LiveTurn): Promise<LiveTurn> =>
  new Promise((resolve, reject) => {
    const soon = setTimeout(resolve, beginMs, turn)
    turn.started.then(
      (begun) => {
        clearTimeout(soon)
        resolve(begun)
      },
      (error: unknown) => {
        clearTimeout(soon)
        reject(error)
      },
    )
  })

type Streamed = {
  turn: LiveTurn
  framesOf(turn: LiveTurn, ending: Ending): AsyncGenerator<string | Uint8Array>
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
  const begun = await begunSoon(turn)
  request.streamedRun = begun.runId
  return sendStream(reply, framesOf(begun, ending))
}
