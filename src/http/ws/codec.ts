import { z } from 'zod'
import type { TurnDone } from '../../agents/agent-event.ts'
import { type Refusal, refusal } from '../../domain/refusal.ts'
import type { TurnItem } from '../../turns/turn-items.ts'
import { complexity, malformation } from '../checks/json-text.ts'
import { InvalidRequest, issuesOf } from '../checks/validate.ts'
import { wholeErrorOf } from '../errors/bodies.ts'
import { toolCallsOf, usageOf } from '../streams/chat-format.ts'
import { lifecycleOf } from '../streams/turn-frames.ts'
import { sessionId } from '../wire/fields.ts'
import { type IncomingType, incoming, type Outgoing, type OutgoingType } from './frames.ts'

const types = Object.keys(incoming) as [IncomingType, ...IncomingType[]]
const envelope = z.object({ type: z.enum(types, `type is one of ${types.join(', ')}`) })

/** What relates an answer to a frame: the id that the client gave the frame, and the session. */
export type About = { id?: string | number; session_id?: string }

/** A message may have parts with 2,000 values. */
const frameValues = 2_100

const id = z.object({ id: z.union([z.string().max(128), z.int()]) })
const session = z.object({ session_id: sessionId })

/** The parts that a frame has, even if the rest of the frame is invalid. */
export const aboutOf = (frame: unknown): About => ({
  ...session.safeParse(frame).data,
  ...id.safeParse(frame).data,
})

/** @throws InvalidRequest */
export const fieldsOf = <Schema extends z.ZodType>(
  schema: Schema,
  frame: unknown,
): z.infer<Schema> => {
  const result = schema.safeParse(frame)
  if (!result.success) throw new InvalidRequest('body', issuesOf(schema, frame, result))
  return result.data
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw refusal('invalid_json', { message: 'The frame is not valid JSON' })
  }
}

/** By the rules of a body. @throws too_complex, invalid_json, reserved_name */
export const jsonOf = (text: string): unknown => {
  const complex = complexity(text, frameValues)
  if (complex) throw complex
  const value = parsed(text)
  const malformed = malformation(text, value)
  if (malformed) throw malformed
  return value
}

/** @throws InvalidRequest */
export const typeOf = (frame: unknown): IncomingType => fieldsOf(envelope, frame).type

export const encode = <Type extends OutgoingType>(
  type: Type,
  fields: Outgoing<Type>,
  about: About = {},
): string => JSON.stringify({ type, ...fields, ...about })

/** A refusal with its documented fields (`limit`, `retry_after`, …) beside message, type, code. */
export const errorFrame = (refusal: Refusal, about: About): string =>
  encode('error', { error: wholeErrorOf(refusal) }, about)

/** One step of a turn; undefined when clients are not sent it. */
export const stepFrame = (item: TurnItem, about: About): string | undefined => {
  if (item.event === 'token') return encode('stream_token', { token: item.text }, about)
  if (item.event === 'agent_routing') {
    const { from_agent: from, to_agent: to, timestamp } = item
    return encode('agent_routing', { from, to, timestamp }, about)
  }
  const lifecycle = lifecycleOf(item)
  if (!lifecycle) return undefined
  const { event: type, ...fields } = lifecycle
  return JSON.stringify({ type, ...fields, ...about })
}

/** The end of a turn: the recorded answer and its usage. */
export const completeFrame = (done: TurnDone, about: About): string => {
  const tool_calls = toolCallsOf(done)
  const { text: content, finish_reason } = done
  const calls = tool_calls ? { tool_calls } : {}
  const pending = done.pending ? { pending_approvals: [...done.pending] } : {}
  return encode(
    'stream_complete',
    { content, finish_reason, ...calls, ...pending, usage: usageOf(done) },
    about,
  )
}
