import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { z } from 'zod'
import { type Answer, answerOf, api } from '../../api/client.ts'
import { ApiError } from '../../api/problem.ts'
import type { RunSummary } from '../runs/runs-queries.ts'
import type { Step } from './steps.ts'

type MessageList = Answer<'/api/external/sessions/{session_id}/messages'>
export type Message = MessageList['messages'][number]

const stepsPage = 500
const liveMs = 2_000

const open: ReadonlySet<string> = new Set(['queued', 'running', 'awaiting_approval', 'in_doubt'])

export const isOpen = ({ status }: Pick<RunSummary, 'status'>): boolean => open.has(status)

/** A run with its steps, page by page; read again while it goes on, larger ones less often. */
export const runQuery = (organizationId: string, runId: string) =>
  infiniteQueryOptions({
    queryKey: ['run', organizationId, runId],
    queryFn: ({ pageParam }) =>
      answerOf(
        api.GET('/api/admin/organizations/{organization_id}/runs/{run_id}', {
          params: {
            path: { organization_id: organizationId, run_id: runId },
            query: { limit: stepsPage, ...(pageParam === undefined ? {} : { after: pageParam }) },
          },
        }),
      ),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ next_after }) => next_after ?? undefined,
    refetchInterval: ({ state: { data } }) => {
      const latest = data?.pages.at(-1)
      return latest && isOpen(latest) ? liveMs * (data?.pages.length ?? 1) : false
    },
  })

const messagesPage = 50

export type Place = { page: number; size: number }

const messagesOf = (sessionId: string, { page, size }: Place, onBehalfOf: string | undefined) =>
  answerOf(
    api.GET('/api/external/sessions/{session_id}/messages', {
      params: {
        path: { session_id: sessionId },
        query: { page, page_size: size, ...(onBehalfOf ? { on_behalf_of: onBehalfOf } : {}) },
      },
    }),
  )

/** Where a run is in its conversation, and for whom it has to be read. */
export type Conversation = Place & { onBehalfOf: string | undefined }

type RunPlace = Pick<RunSummary, 'session_id' | 'user_id' | 'started_at'>

/** The first page of a conversation: as one's own, else as its user's. @throws ApiError */
const firstMessages = async ({ session_id: id, user_id: userId }: RunPlace) => {
  const first = { page: 1, size: messagesPage }
  try {
    return { onBehalfOf: undefined, head: await messagesOf(id, first, undefined) }
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404) || userId === null) throw error
    return { onBehalfOf: userId, head: await messagesOf(id, first, userId) }
  }
}

/** The page of a conversation on which a run begins. */
export const conversationQuery = (run: RunPlace) =>
  queryOptions({
    queryKey: ['run-place', run.session_id, run.started_at],
    queryFn: async (): Promise<Conversation> => {
      const { onBehalfOf, head } = await firstMessages(run)
      const start = Date.parse(run.started_at)
      const isBefore = (message: Message | undefined) =>
        message !== undefined && Date.parse(message.created_at) < start
      if (!head.has_next || !isBefore(head.messages.at(-1)))
        return { page: 1, size: head.page_size, onBehalfOf }
      let low = head.messages.length
      let high = head.total - 1
      while (low < high) {
        const middle = (low + high) >> 1
        const { messages } = await messagesOf(
          run.session_id,
          { page: middle + 1, size: 1 },
          onBehalfOf,
        )
        if (isBefore(messages[0])) low = middle + 1
        else high = middle
      }
      return { page: Math.floor(low / messagesPage) + 1, size: messagesPage, onBehalfOf }
    },
    staleTime: Number.POSITIVE_INFINITY,
  })

/** The messages of a conversation from a place on, with those before and after it. */
export const messagesQuery = (sessionId: string, { page, size, onBehalfOf }: Conversation) =>
  infiniteQueryOptions({
    queryKey: ['run-messages', sessionId, page, size],
    queryFn: ({ pageParam }) => messagesOf(sessionId, pageParam, onBehalfOf),
    initialPageParam: { page, size },
    getNextPageParam: (last): Place | undefined =>
      last.has_next ? { page: last.page + 1, size: last.page_size } : undefined,
    getPreviousPageParam: (first): Place | undefined =>
      first.page > 1 ? { page: first.page - 1, size: first.page_size } : undefined,
  })

const runEvent = z.object({
  id: z.string(),
  type: z.string(),
  position: z.number(),
  data: z.looseObject({
    runId: z.string().optional(),
    at: z.string().optional(),
    approvalId: z.string().optional(),
    failedCall: z.object({ at: z.string() }).optional().catch(undefined),
  }),
  metadata: z.looseObject({ at: z.string() }).nullable(),
})

export type RunEvent = z.infer<typeof runEvent>

type EventsOf = {
  organizationId: string
  run: Pick<RunSummary, 'run_id' | 'session_id'>
  /** ISO times: from ≤ time < to. */
  from: string
  to?: string | undefined
  type?: string
}

const eventsPage = 500

/** One page of a run's events. @throws ApiError */
const eventsOf = async ({ organizationId, run, ...filters }: EventsOf, after: number) => {
  const page = await answerOf(
    api.GET('/api/admin/organizations/{organization_id}/audit/events', {
      params: {
        path: { organization_id: organizationId },
        query: {
          session_id: run.session_id,
          run_id: run.run_id,
          from: filters.from,
          ...(filters.to ? { to: filters.to } : {}),
          ...(filters.type ? { type: filters.type } : {}),
          limit: eventsPage,
          after,
        },
      },
    }),
  )
  if (typeof page === 'string') throw new Error('The server answered in another format')
  const { events, next_after, has_more } = page
  return {
    events: events.flatMap((event) => runEvent.safeParse(event).data ?? []),
    next: has_more ? next_after : undefined,
  }
}

const endTypes: ReadonlySet<string> = new Set([
  'RunCompleted',
  'RunFailed',
  'RunCancelled',
  'RunTimedOut',
])
const mostPages = 40

/** All events of a run with their texts, at most 20,000; to search in. */
export const runEventsQuery = (organizationId: string, run: RunSummary) =>
  queryOptions({
    queryKey: ['run-events', organizationId, run.run_id, isOpen(run)],
    queryFn: async () => {
      const all: RunEvent[] = []
      const filters = { organizationId, run, from: run.started_at }
      let after: number | undefined = -1
      for (let page = 0; page < mostPages && after !== undefined; page++) {
        const { events, next } = await eventsOf(filters, after)
        all.push(...events)
        after = events.some(({ type }) => endTypes.has(type)) ? undefined : next
      }
      return all
    },
    staleTime: Number.POSITIVE_INFINITY,
  })

/** Why a run failed, in the words of its last event; undefined: not recorded. */
export const failureCauseQuery = (organizationId: string, run: RunSummary) =>
  queryOptions({
    queryKey: ['run-failure', organizationId, run.run_id],
    queryFn: async () => {
      const filters = { organizationId, run, from: run.started_at, type: 'RunFailed' }
      for (let after: number | undefined = -1, page = 0; after !== undefined && page < 5; page++) {
        const { events, next } = await eventsOf(filters, after)
        const [end] = events
        if (end) return { cause: z.string().optional().catch(undefined).parse(end.data.cause) }
        after = next
      }
      return {}
    },
    enabled: run.status === 'failed',
    staleTime: Number.POSITIVE_INFINITY,
  })

/** Before the recorded start and after the end, since durations are rounded. */
const marginMs = 2_000

/** Whether an event says something of a step. A run's only answer has no event of its own. */
export const isOfStep =
  ({ step_id: id, kind }: Step) =>
  ({ data, type }: RunEvent): boolean => {
    if (kind === 'approval') return data.approvalId === id
    if (data.at === id || data.failedCall?.at === id) return true
    return kind === 'model' && type === 'AgentCompleted' && data.at === id.replace(/\/1$/, '')
  }

/** The events of one step, with their texts. */
export const stepEventsQuery = (organizationId: string, run: RunSummary, step: Step) =>
  queryOptions({
    queryKey: ['step-events', organizationId, run.run_id, step.step_id, step.status],
    queryFn: async () => {
      const start = Date.parse(step.started_at)
      const iso = (ms: number) => new Date(ms).toISOString()
      const filters = {
        organizationId,
        run,
        from: iso(start - marginMs),
        to: step.duration_ms === null ? undefined : iso(start + step.duration_ms + marginMs),
      }
      const all: RunEvent[] = []
      for (let after: number | undefined = -1, page = 0; after !== undefined && page < 5; page++) {
        const { events, next } = await eventsOf(filters, after)
        all.push(...events.filter(isOfStep(step)))
        after = next
      }
      return all
    },
    enabled: step.kind !== 'attempt',
    staleTime: Number.POSITIVE_INFINITY,
  })
