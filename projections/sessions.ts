import type { Seen } from '../src/domain/event.ts'
import { sessionEvents } from '../src/domain/session/events.ts'
import { idIn, type Projection } from './projection.ts'

/** A session in its answer's shape, with what its lists and its status are asked by. */
export type SessionView = {
  session_id: string
  organization_id: string
  user_id: string
  /** The key it was created through. */
  key_id: string | null
  hidden: boolean
  created_at: string
  last_update_time: string
  is_active: boolean
  message_count: number
  /** The latest run, for the status answer. */
  run: SessionRun | null
}

export type SessionRun = {
  run_id: string
  state: 'processing' | 'ended' | 'timed_out'
  started_at: string
  current_agent: string
}

type Event = Seen<typeof sessionEvents>

/** Session ids are the client's to choose, so a document's id carries the organization. */
export const sessionDocumentId = (organizationId: string, sessionId: string): string =>
  `${organizationId}/${sessionId}`

const touched = (view: SessionView, { metadata }: Event): SessionView => ({
  ...view,
  last_update_time: metadata.at,
})

const inRun = (view: SessionView, runId: string, change: Partial<SessionRun>): SessionView =>
  view.run?.run_id === runId ? { ...view, run: { ...view.run, ...change } } : view

const ended =
  (state: 'ended' | 'timed_out') =>
  (view: SessionView, event: Event & { data: { runId: string } }): SessionView =>
    touched(inRun(view, event.data.runId, { state }), event)

export const sessions: Projection<SessionView, typeof sessionEvents> = {
  name: 'sessions',
  categories: ['session'],
  events: sessionEvents,
  indexes: {
    by_user: { equals: ['organization_id', 'user_id'], orderBy: 'last_update_time' },
    by_user_shown: {
      equals: ['organization_id', 'user_id', 'hidden'],
      orderBy: 'last_update_time',
    },
    by_key: { equals: ['organization_id', 'user_id', 'key_id'], orderBy: 'last_update_time' },
    by_key_shown: {
      equals: ['organization_id', 'user_id', 'key_id', 'hidden'],
      orderBy: 'last_update_time',
    },
  },
  id: ({ stream, metadata }) => sessionDocumentId(metadata.organization_id, idIn(stream)),
  creates: {
    SessionCreated: ({ stream, metadata, data }) => ({
      session_id: idIn(stream),
      organization_id: metadata.organization_id,
      user_id: data.userId,
      key_id: data.keyId,
      hidden: data.hidden,
      created_at: metadata.at,
      last_update_time: metadata.at,
      is_active: true,
      message_count: 0,
      run: null,
    }),
  },
  changes: {
    SessionVisibilityChanged: (view, { data }) => ({ ...view, hidden: data.hidden }),
    UserMessageSent: (view, event) =>
      touched({ ...view, message_count: view.message_count + 1 }, event),
    RunStarted: (view, { data, metadata }) => ({
      ...view,
      run: {
        run_id: data.runId,
        state: 'processing',
        started_at: metadata.at,
        current_agent: data.agent,
      },
    }),
    AgentStarted: (view, { data }) => inRun(view, data.runId, { current_agent: data.agent }),
    AssistantMessageRecorded: (view, event) =>
      touched({ ...view, message_count: view.message_count + 1 }, event),
    RunCompleted: ended('ended'),
    RunFailed: ended('ended'),
    RunCancelled: ended('ended'),
    RunTimedOut: ended('timed_out'),
  },
  removes: ['SessionErased'],
}
