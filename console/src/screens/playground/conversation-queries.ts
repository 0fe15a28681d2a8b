import { queryOptions } from '@tanstack/react-query'
import { type Answer, answerOf, api } from '../../api/client.ts'
import { ApiError } from '../../api/problem.ts'

const pageSize = 100
/** Pages of a long conversation that are shown at first. */
const firstPages = 2

export type Message = Answer<'/api/external/sessions/{session_id}/messages'>['messages'][number]

export type Conversation = {
  messages: readonly Message[]
  /** How many older messages are not loaded. */
  older: number
  /** To be loaded next, to see older ones; undefined: all are loaded. */
  earlierPage: number | undefined
}

const messagesPage = (sessionId: string, page: number, size: number) =>
  answerOf(
    api.GET('/api/external/sessions/{session_id}/messages', {
      params: { path: { session_id: sessionId }, query: { page, page_size: size } },
    }),
  )

/** The messages from a page on; the newest ones unless it is given. */
const getConversation = async (sessionId: string, from?: number): Promise<Conversation> => {
  const head = await messagesPage(sessionId, 1, pageSize)
  // Pages are smaller where texts are large.
  const size = head.page_size
  const last = Math.max(1, Math.ceil(head.total / size))
  const first = from ?? Math.max(1, last - firstPages + 1)
  const numbers = Array.from({ length: last - first + 1 }, (_, index) => first + index)
  const pages = await Promise.all(
    numbers.map((page) => (page === 1 ? head : messagesPage(sessionId, page, size))),
  )
  return {
    messages: pages.flatMap(({ messages }) => messages),
    older: (first - 1) * size,
    earlierPage: first > 1 ? Math.max(1, first - firstPages) : undefined,
  }
}

export const conversationKey = (sessionId: string) => ['conversation', sessionId] as const

export const conversationQuery = (sessionId: string, from?: number) =>
  queryOptions({
    queryKey: [...conversationKey(sessionId), from ?? 'newest'],
    queryFn: () => getConversation(sessionId, from),
    staleTime: Number.POSITIVE_INFINITY,
  })

/** Null: the session is unknown. */
export const sessionQuery = (sessionId: string) =>
  queryOptions({
    queryKey: ['session-detail', sessionId],
    queryFn: async () => {
      try {
        return await answerOf(
          api.GET('/api/external/sessions/{session_id}', {
            params: { path: { session_id: sessionId } },
          }),
        )
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null
        throw error
      }
    },
  })

export const recentSessionsQuery = queryOptions({
  queryKey: ['recent-sessions'],
  queryFn: () =>
    answerOf(api.GET('/api/external/sessions', { params: { query: { page_size: 15 } } })),
})

/** Agents that a message may be sent to. */
export const activeAgentsQuery = queryOptions({
  queryKey: ['active-agents'],
  queryFn: () =>
    answerOf(api.GET('/api/external/agents', { params: { query: { is_active: true } } })),
  staleTime: 30_000,
})

/** An item of generated content, read again until it is done; null: unknown. */
export const contentQuery = (id: string) =>
  queryOptions({
    queryKey: ['content-item', id],
    queryFn: async () => {
      try {
        return await answerOf(
          api.GET('/api/external/content/{content_id}', { params: { path: { content_id: id } } }),
        )
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null
        throw error
      }
    },
    refetchInterval: ({ state: { data } }) =>
      data?.status === 'pending' || data?.status === 'processing' ? 1_000 : false,
  })
