import { z } from 'zod'
import type { Recorded, Seen } from '../src/domain/event.ts'
import { sessionEvents } from '../src/domain/session/events.ts'
import {
  count,
  credits,
  flag,
  inCredits,
  incomplete,
  micro,
  msBetween,
  text,
  timestamp,
} from './fields.ts'
import { idIn, projection, without } from './projection.ts'

const { runId: _, setBy: set_by, ...limit } = sessionEvents.RunLimitReached.shape
const limitReached = z.object({ ...limit, set_by })

export const runStatuses = [
  'queued',
  'running',
  'awaiting_approval',
  'in_doubt',
  'completed',
  'failed',
  'cancelled',
  'timed_out',
] as const

/** One run of a session, for recovery, time-outs and repeated requests. */
const runView = z.object({
  run_id: text,
  session_id: text,
  message_id: text,
  organization_id: text,
  key_id: text.nullable(),
  payer_id: text,
  /**
   * Acted for, else the key's backing user; null: the platform. Not in documents from before it was
   * kept.
   */
  user_id: text.nullable().optional(),
  /** The agent the turn was given to; not in documents from before it was kept. */
  agent_id: text.optional(),
  agent: text,
  /** That of the answer, once it is complete; not in documents from before it was kept. */
  model: text.optional(),
  node: text,
  /** Absent: the first. */
  attempt: count.optional(),
  /** Of its beginning, in the session's stream; not in documents from before it was kept. */
  revision: count.optional(),
  status: z.enum(runStatuses),
  /** Only while queued or running, not while paused. */
  open: flag,
  /** What it waits for; absent: it does not wait. */
  waits: z.enum(['awaiting_approval', 'in_doubt']).optional(),
  /** Something that it waits, or waited, for was decided and it has not gone on since. */
  decided: flag,
  /** Only in documents of earlier versions. */
  fingerprint: text.optional(),
  started_at: timestamp,
  /** When it last resumed after a pause or left the queue; absent: never. */
  waited_until: timestamp.optional(),
  ended_at: timestamp.nullable(),
  error_code: text.nullable(),
  /** The limit that ended it, if one did; credits in micro-credits. */
  limit_reached: limitReached.optional(),
  finish_reason: sessionEvents.RunCompleted.shape.finishReason.nullable(),
  tool_calls: z.array(z.object({ id: text, name: text })),
  /** The message that answered, once there is one. */
  answer_id: text.nullable(),
  prompt_tokens: count,
  completion_tokens: count,
  charge: micro,
  /** Its session is erased: only its numbers and ids are left, for auditors and analysts. */
  erased: flag,
  incomplete,
})
export type RunView = z.infer<typeof runView>

/** Neither in feeds nor in past states. */
const inner = {
  node: true,
  revision: true,
  open: true,
  waits: true,
  decided: true,
  fingerprint: true,
} as const

const publicLimit = limitReached.extend({
  used: z.number(),
  allowed: z.number().describe('Of credits: in credits'),
})

const publicRunSchema = runView.omit(inner).extend({
  user_id: text.nullable(),
  model: text.nullable().describe('Null until it is complete'),
  duration_ms: count
    .nullable()
    .describe('Since it began, or last went on; null until it has ended'),
  limit_reached: publicLimit.optional(),
  charge: credits,
})

type RunTimes = Pick<RunView, 'started_at' | 'waited_until' | 'ended_at'>

/** Milliseconds between two events, possibly of two processes: at least 0. */
export const durationOf = ({ started_at, waited_until, ended_at }: RunTimes): number | null =>
  ended_at === null ? null : msBetween(waited_until ?? started_at, ended_at)

const publicLimitOf = ({ used, allowed, ...limit }: z.infer<typeof limitReached>) =>
  limit.limit === 'credits'
    ? { ...limit, used: inCredits(used), allowed: inCredits(allowed) }
    : { ...limit, used, allowed }

const publicRun = (view: RunView): z.infer<typeof publicRunSchema> => {
  const { limit_reached, charge, user_id = null, model = null } = view
  return {
    ...without(view, inner),
    user_id,
    model,
    duration_ms: durationOf(view),
    ...(limit_reached ? { limit_reached: publicLimitOf(limit_reached) } : {}),
    charge: inCredits(charge),
  }
}

type Event = Seen<typeof sessionEvents>
type Cost = { promptTokens: number; completionTokens: number; charge: number }

const endRun = (
  { open: _, decided: __, waits: ___, ...view }: RunView,
  { metadata, data }: Event & { data: Cost },
  change: Pick<RunView, 'status'> & Partial<RunView>,
): RunView =>
  // Without what ends with it, the view is a copy already.
  Object.assign(view, {
    ended_at: metadata.at,
    prompt_tokens: data.promptTokens,
    completion_tokens: data.completionTokens,
    charge: data.charge,
    ...change,
  })

/** Nothing takes an erased run up again. */
const erasedRun = ({ open: _, decided: __, waits: ___, ...view }: RunView): RunView => ({
  ...view,
  tool_calls: [],
  erased: true,
})

const ofStream = ({ stream, metadata }: Recorded) => ({
  index: 'by_session',
  equals: [metadata.organization_id, idIn(stream)],
})

export const runs = projection<RunView, typeof sessionEvents>()({
  name: 'runs',
  schema: runView,
  version: 2,
  shown: { schema: publicRunSchema, document: publicRun },
  categories: ['session'],
  events: sessionEvents,
  indexes: {
    decided: { equals: ['decided'], orderBy: 'started_at', totals: false },
    open: { equals: ['open'], orderBy: 'started_at', totals: false },
    waiting: { equals: ['waits'] },
    waiting_of: { equals: ['organization_id', 'waits'], orderBy: 'started_at' },
    by_session: { equals: ['organization_id', 'session_id'], totals: false },
  },
  id: ({ data }) => ('runId' in data ? data.runId : []),
  creates: {
    RunStarted: ({ stream, revision, metadata, data }) => ({
      run_id: data.runId,
      session_id: idIn(stream),
      message_id: data.messageId,
      organization_id: metadata.organization_id,
      key_id: metadata.actor.key_id,
      payer_id: data.payerId,
      user_id: metadata.on_behalf_of ?? metadata.actor.user_id,
      agent_id: data.agentId,
      agent: data.agent,
      node: data.node,
      revision,
      status: data.queued ? 'queued' : 'running',
      open: true,
      started_at: metadata.at,
      ended_at: null,
      error_code: null,
      finish_reason: null,
      tool_calls: [],
      answer_id: null,
      prompt_tokens: 0,
      completion_tokens: 0,
      charge: 0,
    }),
  },
  changes: {
    RunDequeued: (view, { data: { node }, metadata }) => ({
      ...view,
      node,
      waited_until: metadata.at,
      status: 'running',
    }),
    RunResumed: ({ decided: _, waits: __, ...view }, { data: { node, attempt }, metadata }) => ({
      ...view,
      node,
      attempt,
      ...(view.status === 'running' ? {} : { waited_until: metadata.at }),
      status: 'running',
      open: true,
    }),
    AssistantMessageRecorded: (view, { data }) => ({
      ...view,
      agent: data.agent,
      answer_id: data.messageId,
    }),
    ApprovalDecided: (view) => ({ ...view, decided: true }),
    ApprovalExpired: (view) => ({ ...view, decided: true }),
    ToolOutcomeTold: (view) => ({ ...view, decided: true }),
    RunPaused: ({ open: _, ...view }, { data }) => ({
      ...view,
      status: data.state,
      waits: data.state,
      prompt_tokens: data.promptTokens,
      completion_tokens: data.completionTokens,
      charge: data.charge,
    }),
    RunLimitReached: (view, { data: { limit, used, allowed, setBy } }) => ({
      ...view,
      limit_reached: { limit, used, allowed, set_by: setBy },
    }),
    RunCompleted: (view, event) =>
      endRun(view, event, {
        status: 'completed',
        model: event.data.model,
        finish_reason: event.data.finishReason,
        tool_calls: event.data.toolCalls ?? [],
      }),
    RunFailed: (view, event) =>
      endRun(view, event, { status: 'failed', error_code: event.data.code }),
    RunCancelled: (view, event) => endRun(view, event, { status: 'cancelled' }),
    RunTimedOut: (view, event) => endRun(view, event, { status: 'timed_out' }),
  },
  ofStream,
  clears: { SessionErased: ofStream },
  remainder: erasedRun,
  // biome-ignore format: few lines
  ignores: {
    SessionCreated: true, SessionVisibilityChanged: true, UserMessageSent: true, RunCleared: true,
    RunHandedOver: true, AgentStarted: true, AgentCompleted: true, AgentRouted: true,
    ModelAnswered: true, ToolStarted: true, ToolCompleted: true, ClientToolsCalled: true,
    ClientToolAnswered: true, ClientToolsUnanswered: true, ApprovalRequested: true,
    ApprovalWithdrawn: true, ForkBegun: true, MessageForked: true, SessionForked: true,
  },
})
