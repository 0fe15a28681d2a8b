import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { messagePartView, messageView } from '../../../projections/messages.ts'
import { callInDoubt, sessionRun, sessionView } from '../../../projections/sessions.ts'
import type { GetMessage } from '../../../queries/get-message.ts'
import type { GetSession } from '../../../queries/get-session.ts'
import type { GetSessionStatus } from '../../../queries/get-session-status.ts'
import type { ListMessages } from '../../../queries/list-messages.ts'
import type { ListSessions } from '../../../queries/list-sessions.ts'
import type { ReadMeter } from '../../metering/read-meter.ts'
import { refusals } from '../errors/responses.ts'
import { routeOf } from '../server/route-rules.ts'
import { toolCall } from '../wire/client-tools.ts'
import { boolean, integer, page, pathId, pathSessionId } from '../wire/fields.ts'
import type { FileLinks } from '../wire/file-links.ts'
import { queryOnBehalfOf } from '../wire/on-behalf-of.ts'

type Uses = {
  listSessions: ListSessions
  listMessages: ListMessages
  getMessage: GetMessage
  getSession: GetSession
  getSessionStatus: GetSessionStatus
  messagesRead: ReadMeter['messagesRead']
  linksOf: FileLinks
}

const params = z.object({ session_id: pathSessionId })
const onBehalfOf = queryOnBehalfOf.shape

const list = z.object({
  page,
  page_size: integer(1, 100).default(20),
  include_hidden: boolean.default(true),
  ...onBehalfOf,
})
const messages = z.object({ page, page_size: integer(1, 200).default(50), ...onBehalfOf })

const paging = {
  total: z.int(),
  page: z.int(),
  page_size: z.int(),
  has_next: z.boolean(),
}

const sessionItem = sessionView
  .pick({
    session_id: true,
    created_at: true,
    last_update_time: true,
    is_active: true,
    message_count: true,
    forked_from: true,
  })
  .extend({
    state: z
      .enum(['queued', 'running', 'awaiting_approval', 'in_doubt'])
      .optional()
      .describe('Of the turn that is under way or waits for somebody; absent where there is none'),
  })

const sessionList = z.object({ sessions: z.array(sessionItem), ...paging })

const forkedAfter = z.string().nullable()

const wholeSession = sessionItem.extend({
  hidden: z.boolean(),
  forked_from: z.string().nullable(),
  forked_after: forkedAfter,
  forks: z.array(
    sessionItem.pick({ session_id: true, created_at: true }).extend({
      forked_after: forkedAfter,
    }),
  ),
})

const messageItem = messageView
  .pick({
    event_id: true,
    event_type: true,
    content: true,
    agent: true,
    created_at: true,
    visibility: true,
    tool_call_id: true,
  })
  .extend({
    content: z.string(),
    tool_calls: z.array(toolCall).optional(),
    parts: z
      .array(
        messagePartView
          .omit({ blob: true, at: true })
          .extend({ name: z.string(), url: z.string() })
          .partial({ name: true }),
      )
      .optional(),
  })

const messageList = z.object({
  session_id: sessionView.shape.session_id,
  messages: z.array(messageItem),
  ...paging,
})

const sessionState = z.object({
  session_id: sessionView.shape.session_id,
  is_processing: z.boolean(),
  ...sessionRun.pick({ started_at: true, current_agent: true }).partial().shape,
  state: z.enum(['queued', 'awaiting_approval', 'in_doubt']).optional(),
  in_doubt: z
    .array(callInDoubt.omit({ at: true }))
    .optional()
    .describe('Calls of which it is not known whether they were made: say so'),
  elapsed_seconds: z.number().optional(),
  timed_out: z.boolean().optional(),
  message: z.string().optional(),
})

/** Reading sessions (docs/contract/sessions.md#listing-sessions), and one message alone. */
export const sessionRoutes =
  (uses: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const { listSessions, listMessages, getMessage, getSession, getSessionStatus } = uses
    const { messagesRead, linksOf } = uses
    const config = { scopes: ['sessions:read'], delegates: 'query' } as const
    const tags = ['sessions']
    const delegated = ['user_not_found', 'delegation_not_allowed'] as const

    http.get(
      '/sessions',
      {
        config,
        schema: {
          tags,
          summary: 'List sessions, the most recent first',
          querystring: list,
          response: { 200: sessionList, ...refusals('detail', ...delegated) },
        },
      },
      async (request) => {
        const { page, page_size, include_hidden } = request.query
        const { viewer } = request.delegated
        return listSessions({
          organizationId: request.access.organizationId,
          viewer,
          includeHidden: include_hidden,
          page: { page, pageSize: page_size },
        })
      },
    )

    http.get(
      '/sessions/:session_id',
      {
        config,
        schema: {
          tags,
          summary: 'Get one session, with what it was forked from and its forks',
          params,
          querystring: queryOnBehalfOf,
          response: { 200: wholeSession, ...refusals('detail', 'session_not_found', ...delegated) },
        },
      },
      async (request) => {
        const { viewer } = request.delegated
        const { organizationId } = request.access
        return getSession({ organizationId, viewer, sessionId: request.params.session_id })
      },
    )

    http.get(
      '/sessions/:session_id/messages',
      {
        config: { scopes: ['sessions:messages'], delegates: 'query' },
        schema: {
          tags,
          summary: 'List the messages of a session, the oldest first',
          params,
          querystring: messages,
          response: { 200: messageList, ...refusals('detail', 'session_not_found', ...delegated) },
        },
      },
      async (request) => {
        const { page, page_size } = request.query
        const { call, viewer } = request.delegated
        const { organizationId } = request.access
        const sessionId = request.params.session_id
        const paged = { page, pageSize: page_size }
        const links = linksOf(request)
        const messages = await listMessages({ organizationId, viewer, sessionId }, paged, links)
        messagesRead(call, { route: routeOf(request), sessionId })
        return messages
      },
    )

    http.get(
      '/sessions/:session_id/messages/:event_id',
      {
        config: { scopes: ['sessions:messages'], delegates: 'query' },
        schema: {
          tags,
          summary: 'Get one message of a session',
          params: params.extend({ event_id: pathId }),
          querystring: queryOnBehalfOf,
          response: {
            200: messageItem,
            ...refusals('detail', 'session_not_found', 'message_not_found', ...delegated),
          },
        },
      },
      async (request) => {
        const { session_id: sessionId, event_id } = request.params
        const { call, viewer } = request.delegated
        const { organizationId } = request.access
        const session = { organizationId, viewer, sessionId }
        const message = await getMessage(session, event_id, linksOf(request))
        messagesRead(call, { route: routeOf(request), sessionId })
        return message
      },
    )

    http.get(
      '/sessions/:session_id/status',
      {
        config,
        schema: {
          tags,
          summary: 'Tell whether a turn of the session is running',
          params,
          querystring: queryOnBehalfOf,
          response: { 200: sessionState, ...refusals('detail', 'session_not_found', ...delegated) },
        },
      },
      async (request) => {
        const { viewer } = request.delegated
        const { organizationId } = request.access
        return getSessionStatus({ organizationId, viewer, sessionId: request.params.session_id })
      },
    )
  }
