import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { LiveTurn } from '../../turns/turn.ts'
import { pendingApprovals } from '../wire/approvals.ts'
import { type AgentStream, agentFormat } from './agent-format.ts'
import { closesOnError, doneOf, onGone, streamTurn } from './answer-turn.ts'
import { beginning, turnFrames } from './turn-frames.ts'

export const agentCompletion = z
  .object({
    id: z.string(),
    agent_id: z.string(),
    agent_name: z.string(),
    session_id: z.string(),
    response: z.string(),
    created: z.int(),
    model: z.string(),
    pending_approvals: pendingApprovals.optional(),
  })
  .describe('The answer; with stream: true, a stream of agent.completion.chunk items')

const completionOf = async (turn: LiveTurn, { agentId, agentName, model }: AgentStream) => {
  const { text, pending } = await doneOf(turn)
  return {
    id: `agentcmpl-${turn.runId}`,
    agent_id: agentId,
    agent_name: agentName,
    session_id: turn.sessionId,
    response: text,
    created: turn.created,
    model,
    ...(pending ? { pending_approvals: [...pending] } : {}),
  }
}

type Answering = { turn: LiveTurn; named: AgentStream; isStream: boolean }

/** Answers a request with the turn of one agent, whole or as a stream. */
export const answerAgentTurn = async (
  request: FastifyRequest,
  reply: FastifyReply,
  { turn, named, isStream }: Answering,
) => {
  if (isStream) {
    const framesOf = (live: LiveTurn, ending: AbortSignal) =>
      turnFrames(live, agentFormat(live, named, closesOnError(request)), beginning, ending)
    return streamTurn(request, reply, { turn, framesOf, cancels: false })
  }
  onGone(reply, turn, false)
  return completionOf(await turn.started, named)
}
