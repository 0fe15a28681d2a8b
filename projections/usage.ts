import type { Seen } from '../src/domain/event.ts'
import { sessionEvents } from '../src/domain/session/events.ts'
import { type Durations, withDuration } from './durations.ts'
import type { Projection } from './projection.ts'

/** What one agent did for one user through one key on one day; null: not known. */
export type UsageView = {
  organization_id: string
  /** UTC, of the runs' ends. */
  day: string
  /** The agent that answered. */
  agent_id: string | null
  /** The user acted for, else the key's backing user. */
  user_id: string | null
  key_id: string | null
  runs: number
  completed: number
  failed: number
  cancelled: number
  timed_out: number
  prompt_tokens: number
  completion_tokens: number
  /** Micro-credits. */
  charge: number
  /** Of completed runs. */
  durations: Durations
}

type Ended = 'RunCompleted' | 'RunFailed' | 'RunCancelled' | 'RunTimedOut'
type End = Seen<typeof sessionEvents, Ended>

const bucketOf = ({ metadata, data }: End) => ({
  organization_id: metadata.organization_id,
  day: metadata.at.slice(0, 10),
  agent_id: data.agentId ?? null,
  user_id: metadata.on_behalf_of ?? metadata.actor.user_id,
  key_id: metadata.actor.key_id,
})

const isEnd = (event: Seen<typeof sessionEvents>): event is End =>
  event.type === 'RunCompleted' ||
  event.type === 'RunFailed' ||
  event.type === 'RunCancelled' ||
  event.type === 'RunTimedOut'

const begun = (event: End): UsageView => ({
  ...bucketOf(event),
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
} as const satisfies Record<Ended, keyof UsageView>

const counted = (view: UsageView, { type, data }: End): UsageView => ({
  ...view,
  runs: view.runs + 1,
  [counts[type]]: view[counts[type]] + 1,
  prompt_tokens: view.prompt_tokens + data.promptTokens,
  completion_tokens: view.completion_tokens + data.completionTokens,
  charge: view.charge + data.charge,
  durations:
    type === 'RunCompleted' ? withDuration(view.durations, data.durationMs) : view.durations,
})

const first = (event: End): UsageView => counted(begun(event), event)

/** Usage stays when a session is erased: it holds nothing of what was said. */
export const usage: Projection<UsageView, typeof sessionEvents> = {
  name: 'usage',
  categories: ['session'],
  events: sessionEvents,
  indexes: { by_organization: { equals: ['organization_id'], orderBy: 'day' } },
  id: (event) =>
    isEnd(event)
      ? Object.values(bucketOf(event))
          .map((part) => part ?? '-')
          .join('/')
      : [],
  creates: { RunCompleted: first, RunFailed: first, RunCancelled: first, RunTimedOut: first },
  changes: {
    RunCompleted: counted,
    RunFailed: counted,
    RunCancelled: counted,
    RunTimedOut: counted,
  },
}
