import { z } from 'zod'
import type { Recorded, Seen } from '../src/domain/event.ts'
import { sealed } from '../src/domain/sealed.ts'
import { type MessagePart, messagePart, sessionEvents } from '../src/domain/session/events.ts'
import { count, incomplete, opened, text, timestamp } from './fields.ts'
import { idIn, projection } from './projection.ts'

/** A file of a message; its blob is sealed under the key that seals the message's text. */
export const messagePartView = z.object({
  id: text,
  kind: messagePart.shape.kind,
  media_type: text,
  bytes: count,
  blob: text,
  at: count,
  name: sealed.optional(),
  detail: messagePart.shape.detail,
  width: messagePart.shape.width,
  height: messagePart.shape.height,
})

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
  /** The message of another session that it was copied from. */
  forked_from: text.optional(),
  /** Files of a user's message. */
  parts: z.array(messagePartView).optional(),
  /** Place in the global order: the order of a session's messages. */
  position: count,
  incomplete,
})
export type MessageView = z.infer<typeof messageView>

type MessageEvent = Seen<
  typeof sessionEvents,
  'UserMessageSent' | 'AssistantMessageRecorded' | 'ClientToolAnswered'
>

/** A message without files and calls. */
const message = (
  { stream, metadata, data, position }: MessageEvent,
  event_type: MessageView['event_type'],
  agent: string | null,
): MessageView => ({
  event_id: data.messageId,
  content: data.content,
  created_at: metadata.at,
  visibility: 'visible',
  organization_id: metadata.organization_id,
  session_id: idIn(stream),
  run_id: data.runId,
  position,
  event_type,
  agent,
})

const partOf = ({ mediaType, ...rest }: MessagePart) => ({ ...rest, media_type: mediaType })

const ofStream = ({ stream, metadata }: Recorded) => ({
  index: 'by_session',
  equals: [metadata.organization_id, idIn(stream)],
})

export const messages = projection<MessageView, typeof sessionEvents>()({
  name: 'messages',
  schema: messageView,
  shown: {
    schema: messageView.extend({
      content: opened,
      tool_calls: z.array(z.object({ id: text, name: text, arguments: opened })).optional(),
      parts: z
        .array(messagePartView.omit({ blob: true }).extend({ name: opened.optional() }))
        .optional(),
    }),
    document: ({ parts, ...message }) =>
      parts === undefined
        ? message
        : { ...message, parts: parts.map(({ blob: _, ...fields }) => fields) },
  },
  categories: ['session'],
  events: sessionEvents,
  indexes: {
    by_session: {
      equals: ['organization_id', 'session_id'],
      orderBy: 'position',
      totals: false,
    },
  },
  id: ({ type, data }) =>
    type === 'UserMessageSent' ||
    type === 'AssistantMessageRecorded' ||
    type === 'MessageForked' ||
    type === 'ClientToolAnswered'
      ? data.messageId
      : [],
  creates: {
    UserMessageSent(event) {
      const { parts } = event.data
      const view = message(event, 'user_message', null)
      return parts === undefined ? view : { ...view, parts: parts.map(partOf) }
    },
    AssistantMessageRecorded(event) {
      const { agent, toolCalls } = event.data
      const view = message(event, 'assistant_message', agent)
      return toolCalls === undefined ? view : { ...view, tool_calls: toolCalls }
    },
    ClientToolAnswered: (event) => ({
      ...message(event, 'tool_message', null),
      tool_call_id: event.data.toolId,
    }),
    MessageForked: ({ stream, metadata, data, position }) => ({
      event_id: data.messageId,
      event_type: `${data.saidBy}_message`,
      content: data.content,
      agent: data.agent ?? null,
      created_at: data.at,
      visibility: 'visible',
      organization_id: metadata.organization_id,
      session_id: idIn(stream),
      run_id: data.fromRun,
      ...(data.toolCalls === undefined ? {} : { tool_calls: data.toolCalls }),
      ...(data.toolId === undefined ? {} : { tool_call_id: data.toolId }),
      ...(data.parts === undefined ? {} : { parts: data.parts.map(partOf) }),
      forked_from: data.from,
      position,
    }),
  },
  changes: {},
  ofStream,
  clears: { SessionErased: ofStream },
  // biome-ignore format: few lines
  ignores: {
    SessionCreated: true, SessionVisibilityChanged: true, RunStarted: true, RunDequeued: true,
    RunResumed: true, RunCleared: true, RunHandedOver: true, AgentStarted: true,
    AgentCompleted: true, AgentRouted: true, ModelAnswered: true, ToolStarted: true,
    ToolCompleted: true, ClientToolsCalled: true, ClientToolsUnanswered: true,
    ApprovalRequested: true, ApprovalDecided: true, ApprovalExpired: true, ApprovalWithdrawn: true,
    RunPaused: true, ToolOutcomeTold: true, RunLimitReached: true, RunCompleted: true,
    RunFailed: true, RunCancelled: true, RunTimedOut: true, ForkBegun: true, SessionForked: true,
  },
})
