import { z } from 'zod'
import { sealed } from '../src/domain/sealed.ts'
import { sessionEvents } from '../src/domain/session/events.ts'
import { count, opened, text, timestamp } from './fields.ts'
import { idIn, type Projection } from './projection.ts'

/** A message in its answer's shape; the text stays sealed and is opened when it is read. */
export const messageView = z.object({
  event_id: text,
  event_type: z.enum(['user_message', 'assistant_message', 'tool_message']),
  content: sealed,
  agent: text.nullable(),
  created_at: timestamp,
  visibility: z.enum(['visible', 'hidden']),
  organization_id: text,
  session_id: text,
  run_id: text,
  /** Of the client's own tools, where the assistant called some. */
  tool_calls: z.array(z.object({ id: text, name: text, arguments: sealed })).optional(),
  /** The call that a tool's message answers. */
  tool_call_id: text.optional(),
  /** Place in the global order: the order of a session's messages. */
  position: count,
})
export type MessageView = z.infer<typeof messageView>

export const messages: Projection<MessageView, typeof sessionEvents> = {
  name: 'messages',
  schema: messageView,
  shown: {
    schema: messageView.extend({
      content: opened,
      tool_calls: z.array(z.object({ id: text, name: text, arguments: opened })).optional(),
    }),
  },
  categories: ['session'],
  events: sessionEvents,
  indexes: {
    by_session: { equals: ['organization_id', 'session_id'], orderBy: 'position' },
  },
  id: ({ type, data }) =>
    type === 'UserMessageSent' ||
    type === 'AssistantMessageRecorded' ||
    type === 'ClientToolAnswered'
      ? data.messageId
      : [],
  creates: {
    UserMessageSent: ({ stream, metadata, data, position }) => ({
      event_id: data.messageId,
      event_type: 'user_message',
      content: data.content,
      agent: null,
      created_at: metadata.at,
      visibility: 'visible',
      organization_id: metadata.organization_id,
      session_id: idIn(stream),
      run_id: data.runId,
      position,
    }),
    AssistantMessageRecorded: ({ stream, metadata, data, position }) => ({
      event_id: data.messageId,
      event_type: 'assistant_message',
      content: data.content,
      agent: data.agent,
      created_at: metadata.at,
      visibility: 'visible',
      organization_id: metadata.organization_id,
      session_id: idIn(stream),
      run_id: data.runId,
      ...(data.toolCalls === undefined ? {} : { tool_calls: data.toolCalls }),
      position,
    }),
    ClientToolAnswered: ({ stream, metadata, data, position }) => ({
      event_id: data.messageId,
      event_type: 'tool_message',
      content: data.content,
      agent: null,
      created_at: metadata.at,
      visibility: 'visible',
      organization_id: metadata.organization_id,
      session_id: idIn(stream),
      run_id: data.runId,
      tool_call_id: data.toolId,
      position,
    }),
  },
  changes: {},
  clears: {
    SessionErased: ({ stream, metadata }) => ({
      index: 'by_session',
      equals: [metadata.organization_id, idIn(stream)],
    }),
  },
}
