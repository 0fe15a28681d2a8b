import { z } from 'zod'
import type { Seen } from '../src/domain/event.ts'
import { type SessionEvent, sessionEvents } from '../src/domain/session/events.ts'
import { count, incomplete, listPosition, text, timestamp } from './fields.ts'
import { idIn, projection, without } from './projection.ts'

/**
 * A call of which it is not known whether it was made (docs/contract/approvals.md#calls-in-doubt).
 */
export const callInDoubt = z.object({
  run_id: text,
  tool_id: text,
  tool_name: text,
  agent_name: text,
  arguments_digest: text,
  /** The place of the call in its run. */
  at: text,
})

export const sessionRun = z.object({
  run_id: text,
  state: z.enum(['queued', 'processing', 'awaiting_approval', 'in_doubt', 'ended', 'timed_out']),
  started_at: timestamp,
  current_agent: text,
  /** Absent: none. */
  in_doubt: z.array(callInDoubt).optional(),
})
export type SessionRun = z.infer<typeof sessionRun>

/** A session in its answer's shape, with the fields that lists and the status are read by. */
export const sessionView = z.object({
  session_id: text,
  organization_id: text,
  user_id: text,
  /** The key it was created through. */
  key_id: text.nullable(),
  hidden: z.boolean(),
  created_at: timestamp,
  last_update_time: timestamp,
  /** Always true, kept for clients: an erased session has no document. */
  is_active: z.boolean(),
  message_count: count,
  /** The latest run, for the status answer. */
  run: sessionRun.nullable(),
  /** The session it was forked from, and the last message there that it has; null: none. */
  forked_from: text.optional(),
  forked_after: text.nullable().optional(),
  /** Position of the event that set `last_update_time`. */
  position: listPosition,
  /** Position of a fork's beginning. */
  fork_position: listPosition.optional(),
  incomplete,
})
export type SessionView = z.infer<typeof sessionView>

/** Neither in feeds nor in past states. */
const inner = { position: true, fork_position: true } as const

type Event = Seen<typeof sessionEvents>

/** Session ids are the client's to choose, so a document's id carries the organization. */
export const sessionDocumentId = (organizationId: string, sessionId: string): string =>
  `${organizationId}/${sessionId}`

const touch = (view: SessionView, { metadata, position }: Event): SessionView => ({
  ...view,
  last_update_time: metadata.at,
  position,
})

/** With one message more. */
const addMessage = (view: SessionView, { metadata, position }: Event): SessionView => ({
  ...view,
  last_update_time: metadata.at,
  position,
  message_count: view.message_count + 1,
})

const doubtsOf = ({ runId, inDoubt = [] }: SessionEvent<'RunPaused'>['data']) =>
  inDoubt.map(({ toolId, tool, agent, argumentsDigest, at }) => ({
    run_id: runId,
    tool_id: toolId,
    tool_name: tool,
    agent_name: agent,
    arguments_digest: argumentsDigest,
    at,
  }))

/** With these calls in doubt and no others. */
const withDoubts = (
  { in_doubt: _, ...run }: SessionRun,
  calls: NonNullable<SessionRun['in_doubt']>,
): SessionRun => (calls.length > 0 ? { ...run, in_doubt: calls } : run)

const inRun = (view: SessionView, runId: string, change: Partial<SessionRun>): SessionView =>
  view.run?.run_id === runId ? { ...view, run: { ...view.run, ...change } } : view

const endRun =
  (state: 'ended' | 'timed_out') =>
  (view: SessionView, event: Event & { data: { runId: string } }): SessionView => {
    const { run } = view
    if (run?.run_id !== event.data.runId) return touch(view, event)
    const { run_id, started_at, current_agent } = run
    return touch({ ...view, run: { run_id, state, started_at, current_agent } }, event)
  }

/** A session as it begins, with so many messages. */
const newSession = (
  {
    stream,
    metadata,
    data,
    position,
  }: Seen<typeof sessionEvents, 'SessionCreated' | 'SessionForked'>,
  messages: number,
): SessionView => ({
  session_id: idIn(stream),
  organization_id: metadata.organization_id,
  user_id: data.userId,
  key_id: data.keyId,
  hidden: data.hidden,
  created_at: metadata.at,
  last_update_time: metadata.at,
  is_active: true,
  message_count: messages,
  run: null,
  position,
})

export const sessions = projection<SessionView, typeof sessionEvents>()({
  name: 'sessions',
  schema: sessionView,
  version: 2,
  shown: { schema: sessionView.omit(inner), document: (view) => without(view, inner) },
  categories: ['session'],
  events: sessionEvents,
  indexes: {
    by_user: { equals: ['organization_id', 'user_id', 'hidden'], orderBy: 'position' },
    by_key: {
      equals: ['organization_id', 'user_id', 'key_id', 'hidden'],
      orderBy: 'position',
    },
    by_source: { equals: ['organization_id', 'forked_from'], orderBy: 'fork_position' },
  },
  id: ({ stream, metadata }) => sessionDocumentId(metadata.organization_id, idIn(stream)),
  creates: {
    SessionCreated: (event) => newSession(event, 0),
    SessionForked: (event) => ({
      ...newSession(event, event.data.messages),
      forked_from: event.data.forkedFrom,
      forked_after: event.data.after,
      fork_position: event.position,
    }),
  },
  changes: {
    SessionVisibilityChanged: (view, { data }) => ({ ...view, hidden: data.hidden }),
    UserMessageSent: addMessage,
    RunStarted: (view, { data, metadata }) => ({
      ...view,
      run: {
        run_id: data.runId,
        state: data.queued ? 'queued' : 'processing',
        started_at: metadata.at,
        current_agent: data.agent,
      },
    }),
    AgentStarted: (view, { data }) => inRun(view, data.runId, { current_agent: data.agent }),
    AssistantMessageRecorded: addMessage,
    ClientToolAnswered: addMessage,
    RunDequeued: (view, { data, metadata }) =>
      inRun(view, data.runId, { state: 'processing', started_at: metadata.at }),
    // A run whose process died is still `processing`: its time goes on.
    RunResumed: (view, { data, metadata }) =>
      view.run?.run_id === data.runId && view.run.state !== 'processing'
        ? { ...view, run: { ...view.run, state: 'processing', started_at: metadata.at } }
        : view,
    RunPaused: (view, event) => {
      const { run } = view
      if (run?.run_id !== event.data.runId) return touch(view, event)
      const pausedRun = { ...run, state: event.data.state }
      return touch({ ...view, run: withDoubts(pausedRun, doubtsOf(event.data)) }, event)
    },
    ToolOutcomeTold: (view, { data }) => {
      const { run } = view
      if (run?.run_id !== data.runId) return view
      const left = run.in_doubt?.filter(({ at }) => at !== data.at) ?? []
      return { ...view, run: withDoubts(run, left) }
    },
    RunCompleted: endRun('ended'),
    RunFailed: endRun('ended'),
    RunCancelled: endRun('ended'),
    RunTimedOut: endRun('timed_out'),
  },
  removes: ['SessionErased'],
  // biome-ignore format: few lines
  ignores: {
    RunCleared: true, RunHandedOver: true, AgentCompleted: true, AgentRouted: true,
    ModelAnswered: true, ToolStarted: true, ToolCompleted: true, ClientToolsCalled: true,
    ClientToolsUnanswered: true, ApprovalRequested: true, ApprovalDecided: true,
    ApprovalExpired: true, ApprovalWithdrawn: true, RunLimitReached: true, ForkBegun: true,
    MessageForked: true,
  },
})
