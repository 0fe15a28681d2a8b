import { z } from 'zod'
import { chargeOf, saturate } from '../src/domain/amounts.ts'
import type { Recorded, Seen } from '../src/domain/event.ts'
import { type RunEndType, sessionEvents } from '../src/domain/session/events.ts'
import {
  count,
  credits,
  flag,
  inCredits,
  incomplete,
  micro,
  text,
  timestamp,
  wholeMs,
} from './fields.ts'
import { idIn, projection, without } from './projection.ts'
import { durationOf, runStatuses } from './runs.ts'

/** The orders that runs are listed in. */
export const runSorts = ['started_at', 'duration_ms', 'charge', 'tokens'] as const
export type RunSort = (typeof runSorts)[number]

/** One process's work on a run, from its event in the session's stream on. */
const attempt = z.object({
  attempt: count,
  revision: count,
  started_at: timestamp,
  ended_at: timestamp.nullable(),
  status: z.enum([
    'running',
    'paused',
    'handed_over',
    'interrupted',
    'completed',
    'failed',
    'cancelled',
    'timed_out',
  ]),
})
type Attempt = z.infer<typeof attempt>

/** One run for administrators, who find it by what it cost. It holds nothing of what was said. */
const runSummaryView = z.object({
  run_id: text,
  session_id: text,
  organization_id: text,
  /** Acted for, else the key's backing user; null: the platform. */
  user_id: text.nullable(),
  agent_id: text.describe('The agent that answered; until then, that the turn was given to'),
  agent_name: text,
  models: z.array(text).describe('In the order of their first answers; at most 50'),
  status: z.enum(runStatuses),
  code: text.nullable().describe('Why it failed; null unless it did'),
  started_at: timestamp,
  draft: flag.describe('It ran an agent that was not saved'),
  /** When it last resumed after a pause or left the queue; absent: never. */
  waited_until: timestamp.optional(),
  ended_at: timestamp.nullable(),
  duration_ms: count
    .nullable()
    .describe('Since it began, or last went on; null until it has ended'),
  time_to_first_token_ms: count.nullable().describe('Null where it is not known'),
  prompt_tokens: count.describe('So far'),
  completion_tokens: count.describe('So far'),
  charge: micro,
  attempts: count.describe('How often a process took it up'),
  /** The last ones. */
  latest_attempts: z.array(attempt),
  /** By these it is listed: sortable texts, each of which ends with its id. */
  order: z.object({ started_at: text, duration_ms: text, charge: text, tokens: text }),
  incomplete,
})
export type RunSummaryView = z.infer<typeof runSummaryView>

/** Neither in feeds nor in past states. */
const inner = {
  organization_id: true,
  waited_until: true,
  ended_at: true,
  latest_attempts: true,
  order: true,
  incomplete: true,
} as const

/** A run as it is listed. */
export const runSummary = runSummaryView
  .omit(inner)
  .extend({ charge: credits.describe('Credits so far') })

export const runSummaryOf = (view: RunSummaryView): z.infer<typeof runSummary> => ({
  ...without(view, inner),
  charge: inCredits(view.charge),
})

const mostModels = 50
const mostAttempts = 50

/** The digits of the largest amount. */
const digits = 16

/** Sorts as the number does; unknown values come before all numbers. */
const sortable = (value: number | null): string =>
  value === null ? '-' : String(value).padStart(digits, '0')

const listed = (view: Omit<RunSummaryView, 'order'>): RunSummaryView => {
  const { run_id, started_at, duration_ms, charge, prompt_tokens, completion_tokens } = view
  const tokens = saturate(prompt_tokens + completion_tokens)
  return {
    ...view,
    order: {
      started_at: `${started_at}/${run_id}`,
      duration_ms: `${sortable(duration_ms)}/${run_id}`,
      charge: `${sortable(charge)}/${run_id}`,
      tokens: `${sortable(tokens)}/${run_id}`,
    },
  }
}

const withModels = (models: readonly string[], more: readonly string[]): string[] =>
  [...new Set([...models, ...more])].slice(0, mostModels)

const newAttempt = (number: number, { revision, metadata }: Recorded): Attempt => ({
  attempt: number,
  revision,
  started_at: metadata.at,
  ended_at: null,
  status: 'running',
})

/** Attempts after the last one has ended, unless it had before. */
const endAttempt = (
  attempts: readonly Attempt[],
  status: Attempt['status'],
  ended_at: string | null,
): Attempt[] => {
  const last = attempts.at(-1)
  return last?.status === 'running'
    ? [...attempts.slice(0, -1), { ...last, status, ended_at }]
    : [...attempts]
}

type End = Seen<typeof sessionEvents, RunEndType>
type Cost = Seen<typeof sessionEvents, 'RunPaused'> | End

const costOf = (view: RunSummaryView, { data }: Cost) => ({
  agent_id: data.agentId ?? view.agent_id,
  prompt_tokens: data.promptTokens,
  completion_tokens: data.completionTokens,
  charge: data.charge,
  models: withModels(view.models, data.models?.map(({ model }) => model) ?? []),
  time_to_first_token_ms:
    view.time_to_first_token_ms ??
    (data.firstTokenMs === undefined ? null : wholeMs(data.firstTokenMs)),
})

const endRun = (
  view: RunSummaryView,
  event: End,
  status: 'completed' | 'failed' | 'cancelled' | 'timed_out',
  code: string | null = null,
): RunSummaryView => {
  const { at } = event.metadata
  return listed({
    ...view,
    ...costOf(view, event),
    status,
    code,
    ended_at: at,
    duration_ms: durationOf({ ...view, ended_at: at }),
    latest_attempts: endAttempt(view.latest_attempts, status, at),
  })
}

/** Runs stay when their session is erased: they hold nothing of what was said. */
export const runSummaries = projection<RunSummaryView, typeof sessionEvents>()({
  name: 'run_summaries',
  schema: runSummaryView,
  pace: 'later',
  categories: ['session'],
  events: sessionEvents,
  indexes: {
    started_at: { equals: ['organization_id'], orderBy: 'order.started_at', totals: false },
    duration_ms: { equals: ['organization_id'], orderBy: 'order.duration_ms', totals: false },
    charge: { equals: ['organization_id'], orderBy: 'order.charge', totals: false },
    tokens: { equals: ['organization_id'], orderBy: 'order.tokens', totals: false },
    by_session: {
      equals: ['organization_id', 'session_id'],
      orderBy: 'order.started_at',
      totals: false,
    },
    by_user: { equals: ['organization_id', 'user_id'], orderBy: 'order.started_at', totals: false },
    by_agent: {
      equals: ['organization_id', 'agent_id'],
      orderBy: 'order.started_at',
      totals: false,
    },
    by_status: {
      equals: ['organization_id', 'status'],
      orderBy: 'order.started_at',
      totals: false,
    },
  },
  id: (event) => ('runId' in event.data ? event.data.runId : []),
  creates: {
    RunStarted: (event) => {
      const { stream, metadata, data } = event
      return listed({
        run_id: data.runId,
        session_id: idIn(stream),
        organization_id: metadata.organization_id,
        user_id: metadata.on_behalf_of ?? metadata.actor.user_id,
        agent_id: data.agentId,
        agent_name: data.agent,
        models: [],
        status: data.queued ? 'queued' : 'running',
        code: null,
        started_at: metadata.at,
        ended_at: null,
        duration_ms: null,
        time_to_first_token_ms: null,
        prompt_tokens: 0,
        completion_tokens: 0,
        charge: 0,
        attempts: data.queued ? 0 : 1,
        latest_attempts: data.queued ? [] : [newAttempt(1, event)],
        ...(data.draft ? { draft: data.draft } : {}),
      })
    },
  },
  changes: {
    RunDequeued: (view, event) => ({
      ...view,
      status: 'running',
      waited_until: event.metadata.at,
      attempts: 1,
      latest_attempts: [newAttempt(1, event)],
    }),
    RunResumed: (view, event) => {
      const { data, metadata } = event
      const before = endAttempt(view.latest_attempts, 'interrupted', null)
      return {
        ...view,
        ...(view.status === 'running' ? {} : { waited_until: metadata.at }),
        status: 'running',
        attempts: data.attempt,
        latest_attempts: [...before, newAttempt(data.attempt, event)].slice(-mostAttempts),
      }
    },
    RunHandedOver: (view, { metadata }) => ({
      ...view,
      latest_attempts: endAttempt(view.latest_attempts, 'handed_over', metadata.at),
    }),
    RunPaused: (view, event) =>
      listed({
        ...view,
        ...costOf(view, event),
        agent_name: event.data.agent,
        status: event.data.state,
        latest_attempts: endAttempt(view.latest_attempts, 'paused', event.metadata.at),
      }),
    AssistantMessageRecorded: (view, { data: { agent } }) => ({ ...view, agent_name: agent }),
    ModelAnswered: (view, { data }) =>
      listed({
        ...view,
        models: withModels(view.models, [data.model]),
        prompt_tokens: saturate(view.prompt_tokens + data.promptTokens),
        completion_tokens: saturate(view.completion_tokens + data.completionTokens),
        charge: saturate(view.charge + chargeOf(data, data.price)),
      }),
    AgentCompleted: (view, { data: { model } }) =>
      model === null || view.models.includes(model)
        ? view
        : { ...view, models: withModels(view.models, [model]) },
    RunCompleted: (view, event) => endRun(view, event, 'completed'),
    RunFailed: (view, event) => endRun(view, event, 'failed', event.data.code),
    RunCancelled: (view, event) => endRun(view, event, 'cancelled'),
    RunTimedOut: (view, event) => endRun(view, event, 'timed_out'),
  },
  ofStream: ({ stream, metadata }) => ({
    index: 'by_session',
    equals: [metadata.organization_id, idIn(stream)],
  }),
  // biome-ignore format: few lines
  ignores: {
    SessionCreated: true, SessionVisibilityChanged: true, UserMessageSent: true, RunCleared: true,
    AgentStarted: true, AgentRouted: true, ToolStarted: true, ToolCompleted: true,
    ClientToolsCalled: true, ClientToolAnswered: true, ClientToolsUnanswered: true,
    ApprovalRequested: true, ApprovalDecided: true, ApprovalExpired: true, ApprovalWithdrawn: true,
    ToolOutcomeTold: true, RunLimitReached: true, ForkBegun: true,
    MessageForked: true, SessionForked: true, SessionErased: true,
  },
})
