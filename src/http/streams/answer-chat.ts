import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { LiveTurn } from '../../turns/turn.ts'
import { pendingApprovals } from '../wire/approvals.ts'
import type { ChatBody } from '../wire/chat.ts'
import { toolCall } from '../wire/client-tools.ts'
import { doneIn, onGone, streamOptions, streamTurn } from './answer-turn.ts'
import { chatFormat, toolCallsOf, usageOf } from './chat-format.ts'
import { beginning, turnFrames } from './turn-frames.ts'

const usage = z.object({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
})

export const completion = z
  .object({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: z.int(),
    model: z.string(),
    choices: z.array(
      z.object({
        index: z.int(),
        message: z.object({
          role: z.literal('assistant'),
          content: z.string().nullable(),
          tool_calls: z.array(toolCall).optional(),
        }),
        finish_reason: z.enum(['stop', 'length', 'tool_calls', 'content_filter']),
      }),
    ),
    usage,
    session_id: z.string(),
    pending_approvals: pendingApprovals.optional(),
  })
  .describe('The answer; with stream: true, a stream of chat.completion.chunk items')
type Completion = z.infer<typeof completion>

/** Once the turn has ended; one that repeats another is answered by that one's turn. */
const completionOf = async ({ started }: LiveTurn, model: string): Promise<Completion> => {
  const turn = await started
  const done = doneIn(await turn.outcome)
  const { finish_reason, pending } = done
  // As OpenAI answers where nothing was said.
  const content = done.waits && done.text === '' ? null : done.text
  const message: Completion['choices'][number]['message'] = { role: 'assistant', content }
  const tool_calls = toolCallsOf(done)
  if (tool_calls) message.tool_calls = tool_calls
  const answer: Completion = {
    id: `chatcmpl-${turn.runId}`,
    object: 'chat.completion',
    created: turn.created,
    model,
    choices: [{ index: 0, message, finish_reason }],
    usage: usageOf(done),
    session_id: turn.sessionId,
  }
  if (pending) answer.pending_approvals = [...pending]
  return answer
}

type Chat = {
  turn: LiveTurn
  /** As it stands in the answer. */
  model: string
  stream: boolean
  options: ChatBody['stream_options']
}

/** Answers with a chat completion, whole or streamed. */
export const answerChat = (
  request: FastifyRequest,
  reply: FastifyReply,
  { turn, model, stream, options }: Chat,
) => {
  const cancels = options?.on_disconnect === 'cancel'
  if (stream) {
    const format = streamOptions(request, options)
    const includeUsage = options?.include_usage === true
    const framesOf = (live: LiveTurn, ending: AbortSignal) =>
      turnFrames(live, chatFormat(live, { model, includeUsage, ...format }), beginning, ending)
    return streamTurn(request, reply, { turn, framesOf, cancels })
  }
  onGone(reply, turn, cancels)
  return completionOf(turn, model)
}
