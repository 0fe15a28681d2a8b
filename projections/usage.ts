import { createHash } from 'node:crypto'
import { z } from 'zod'
import { saturate } from '../src/domain/amounts.ts'
import type { Seen } from '../src/domain/event.ts'
import { isRunEnd, type RunEndType, sessionEvents } from '../src/domain/session/events.ts'
import { type Durations, durations, quantile, withDuration } from './durations.ts'
import { count, credits, inCredits, incomplete, micro, text } from './fields.ts'
import { projection } from './projection.ts'

/** What one agent did for one user through one key with one model on a day; null: not known. */
export const usageView = z.object({
  organization_id: text,
  /** UTC, of the runs' ends. */
  day: z.iso.date(),
  /** The agent that answered. */
  agent_id: text.nullable(),
  /** The user acted for, else the key's backing user. */
  user_id: text.nullable(),
  key_id: text.nullable(),
  /** Of a run of several models, its tokens and charge are those of each. */
  model: text.nullable(),
  runs: count,
  completed: count,
  failed: count,
  cancelled: count,
  timed_out: count,
  prompt_tokens: count,
  completion_tokens: count,
  charge: micro,
  durations,
  incomplete,
})
export type UsageView = z.infer<typeof usageView>

/** What is worked out of the counts of one document, or of many. */
export const usageFigures = z.object({
  credits,
  duration_p50_ms: count.nullable(),
  duration_p95_ms: count.nullable(),
})

export const figuresOf = (charge: number, durations: Durations): z.infer<typeof usageFigures> => ({
  credits: inCredits(charge),
  duration_p50_ms: quantile(durations, 0.5),
  duration_p95_ms: quantile(durations, 0.95),
})

type RunEnd = Seen<typeof sessionEvents, RunEndType>

/** What one model used in a run; the run is counted with the first one. */
type Share = {
  model: string | null
  promptTokens: number
  completionTokens: number
  charge: number
  isFirst: boolean
}

/** The run's models; a completed run that lists none had one. */
const sharesOf = ({ type, data }: RunEnd): readonly Share[] => {
  const { models = [], promptTokens, completionTokens, charge } = data
  if (models.length > 0) return models.map((use, n) => ({ ...use, isFirst: n === 0 }))
  const model = type === 'RunCompleted' ? data.model : null
  return [{ model, promptTokens, completionTokens, charge, isFirst: true }]
}

const bucketOf = ({ metadata, data }: RunEnd, { model }: Share) => ({
  organization_id: metadata.organization_id,
  day: metadata.at.slice(0, 10),
  agent_id: data.agentId ?? null,
  user_id: metadata.on_behalf_of ?? metadata.actor.user_id,
  key_id: metadata.actor.key_id,
  model,
})

/** Names of models that any store takes as part of an id. */
const plainName = /^[!-~]{1,200}$/

const nameInId = (model: string): string =>
  plainName.test(model) ? model : createHash('sha256').update(model).digest('hex')

const idOf = (event: RunEnd, share: Share): string => {
  const { model, ...bucket } = bucketOf(event, share)
  const parts = [...Object.values(bucket), model === null ? null : nameInId(model)]
  return parts.map((part) => part ?? '-').join('/')
}

const emptyUsage = (event: RunEnd, share: Share): UsageView => ({
  ...bucketOf(event, share),
  runs: 0,
  completed: 0,
  failed: 0,
  cancelled: 0,
  timed_out: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  charge: 0,
  durations: {},
})

const counts = {
  RunCompleted: 'completed',
  RunFailed: 'failed',
  RunCancelled: 'cancelled',
  RunTimedOut: 'timed_out',
} as const satisfies Record<RunEndType, keyof UsageView>

const withShare = (view: UsageView, { type, data }: RunEnd, share: Share): UsageView => {
  const used = {
    ...view,
    prompt_tokens: saturate(view.prompt_tokens + share.promptTokens),
    completion_tokens: saturate(view.completion_tokens + share.completionTokens),
    charge: saturate(view.charge + share.charge),
  }
  if (!share.isFirst) return used
  return {
    ...used,
    runs: view.runs + 1,
    [counts[type]]: view[counts[type]] + 1,
    durations:
      type === 'RunCompleted' ? withDuration(view.durations, data.durationMs) : view.durations,
  }
}

const counted = (view: UsageView | undefined, event: RunEnd, id: string): UsageView => {
  const shares = sharesOf(event)
  const share = shares.length > 1 ? shares.find((part) => idOf(event, part) === id) : shares[0]
  if (!share) throw new TypeError(`the run is not counted in ${id}`)
  return withShare(view ?? emptyUsage(event, share), event, share)
}

const first = (event: RunEnd, id: string): UsageView => counted(undefined, event, id)

/** Usage stays when a session is erased: it holds nothing of what was said. */
export const usage = projection<UsageView, typeof sessionEvents>()({
  name: 'usage',
  schema: usageView,
  version: 2,
  pace: 'later',
  shown: {
    schema: usageView
      .extend({ day: usageView.shape.day.describe('UTC'), charge: credits })
      .extend(usageFigures.shape),
    document: (view) => ({
      ...view,
      charge: inCredits(view.charge),
      ...figuresOf(view.charge, view.durations),
    }),
  },
  categories: ['session'],
  events: sessionEvents,
  indexes: { by_organization: { equals: ['organization_id'], orderBy: 'day' } },
  id: (event) => (isRunEnd(event) ? sharesOf(event).map((share) => idOf(event, share)) : []),
  creates: { RunCompleted: first, RunFailed: first, RunCancelled: first, RunTimedOut: first },
  changes: {
    RunCompleted: counted,
    RunFailed: counted,
    RunCancelled: counted,
    RunTimedOut: counted,
  },
  // biome-ignore format: few lines
  ignores: {
    SessionCreated: true, SessionVisibilityChanged: true, UserMessageSent: true, RunStarted: true,
    RunDequeued: true, RunResumed: true, RunCleared: true, RunHandedOver: true, AgentStarted: true,
    AgentCompleted: true, AgentRouted: true, ModelAnswered: true, ToolStarted: true,
    ToolCompleted: true, ClientToolsCalled: true, ClientToolAnswered: true,
    ClientToolsUnanswered: true, ApprovalRequested: true, ApprovalDecided: true,
    ApprovalExpired: true, ApprovalWithdrawn: true, RunPaused: true, ToolOutcomeTold: true,
    AssistantMessageRecorded: true, RunLimitReached: true, ForkBegun: true, MessageForked: true,
    SessionForked: true, SessionErased: true,
  },
})
