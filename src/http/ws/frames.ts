import { z } from 'zod'
import { pendingApprovals } from '../wire/approvals.ts'
import { userContent } from '../wire/content-parts.ts'
import { orAbsent, sessionId } from '../wire/fields.ts'
import { bodyOnBehalfOf } from '../wire/on-behalf-of.ts'

/**
 * Frames that a client sends, by `type` (docs/contract/websocket.md). Unknown fields are tolerated,
 * as on HTTP.
 */
export const incoming = {
  auth: z.object({ api_key: z.string().min(1), organization_id: orAbsent(z.string()) }),
  message: z.object({
    content: userContent,
    session_id: orAbsent(sessionId),
    target_agent_id: orAbsent(z.uuid()),
    ...bodyOnBehalfOf.shape,
    session_hidden: orAbsent(z.boolean()),
  }),
  cancel: z.object({ session_id: orAbsent(sessionId) }),
  file: z.object({
    datastore_id: z.string().min(1),
    filename: z.string().min(1),
    content: z.string(),
    content_type: orAbsent(z.string().min(1)),
    ...bodyOnBehalfOf.shape,
  }),
  ping: z.object({}),
}

export type IncomingType = keyof typeof incoming

const timestamp = z.iso.datetime()
const tool = z.object({ tool_name: z.string(), tool_id: z.string(), agent_name: z.string() })
const count = z.int().min(0)

/** Frames that the server sends, by `type`; an answer to a frame with an `id` has that `id` too. */
export const outgoing = {
  authenticated: z.object({ organization_id: z.string() }),
  stream_token: z.object({ token: z.string() }),
  token_agent: z.object({ agent: z.string(), timestamp }),
  run_resumed: z.object({ attempt: count }),
  agent_routing: z.object({ from: z.string(), to: z.string(), timestamp }),
  agent_started: z.object({
    agent: z.string(),
    agent_type: z.string(),
    depth: count,
    parent_agent: z.string().nullable(),
    timestamp,
  }),
  agent_completed: z.object({
    agent: z.string(),
    duration_ms: z.number(),
    ok: z.boolean(),
    error_code: z.string().optional(),
    timestamp,
  }),
  tool_started: tool,
  tool_completed: tool.extend({ ok: z.boolean() }),
  approval_required: pendingApprovals.element,
  payment_required: z.object({
    message: z.string(),
    agent_name: z.string(),
    nonce: z.string(),
    network: z.string(),
    total_amount: z.string(),
  }),
  stream_complete: z.object({
    content: z.string(),
    finish_reason: z.enum(['stop', 'length', 'tool_calls', 'content_filter']),
    tool_calls: z
      .array(
        z.object({
          id: z.string(),
          type: z.literal('function'),
          function: z.object({ name: z.string(), arguments: z.string() }),
        }),
      )
      .optional(),
    pending_approvals: pendingApprovals.optional(),
    usage: z.object({ prompt_tokens: count, completion_tokens: count, total_tokens: count }),
  }),
  cancelled: z.object({ cancelled: z.boolean() }),
  file_status: z.object({
    upload_id: z.string(),
    filename: z.string(),
    datastore_id: z.string(),
    status: z.enum(['pending', 'processing', 'indexing', 'completed', 'failed']),
    error_message: z.string().nullable(),
  }),
  error: z.object({
    error: z.looseObject({ message: z.string(), type: z.string(), code: z.string() }),
  }),
  pong: z.object({}),
}

export type OutgoingType = keyof typeof outgoing

export type Outgoing<Type extends OutgoingType> = z.infer<(typeof outgoing)[Type]>
