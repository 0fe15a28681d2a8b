import { z } from 'zod'
import { sessionEvents } from '../src/domain/session/events.ts'
import { count, incomplete, text, timestamp } from './fields.ts'
import { idIn, projection } from './projection.ts'
import { sessionDocumentId } from './sessions.ts'

/** A fork whose messages are being copied, with all that a resume or an erasure needs. */
const forkView = z.object({
  session_id: text,
  organization_id: text,
  user_id: text,
  key_id: text.nullable(),
  hidden: z.boolean(),
  fork_id: text,
  forked_from: text,
  after: text.nullable(),
  messages: count,
  /** The process life that copies. */
  node: text,
  begun_at: timestamp,
  incomplete,
})
export type ForkView = z.infer<typeof forkView>

export const forks = projection<ForkView, typeof sessionEvents>()({
  name: 'forks',
  schema: forkView,
  categories: ['session'],
  events: sessionEvents,
  indexes: {
    by_begin: { equals: [], orderBy: 'begun_at' },
    by_user: { equals: ['organization_id', 'user_id'] },
  },
  id: ({ stream, metadata }) => sessionDocumentId(metadata.organization_id, idIn(stream)),
  creates: {
    ForkBegun: ({ stream, metadata, data }) => ({
      session_id: idIn(stream),
      organization_id: metadata.organization_id,
      user_id: data.userId,
      key_id: data.keyId,
      hidden: data.hidden,
      fork_id: data.forkId,
      forked_from: data.forkedFrom,
      after: data.after,
      messages: data.messages,
      node: data.node,
      begun_at: metadata.at,
    }),
  },
  changes: {},
  removes: ['SessionForked', 'SessionErased'],
  // biome-ignore format: few lines
  ignores: {
    SessionCreated: true, SessionVisibilityChanged: true, UserMessageSent: true, RunStarted: true,
    RunDequeued: true, RunResumed: true, RunCleared: true, RunHandedOver: true, AgentStarted: true,
    AgentCompleted: true, AgentRouted: true, ModelAnswered: true, ToolStarted: true,
    ToolCompleted: true, ClientToolsCalled: true, ClientToolAnswered: true,
    ClientToolsUnanswered: true, ApprovalRequested: true, ApprovalDecided: true,
    ApprovalExpired: true, ApprovalWithdrawn: true, RunPaused: true, ToolOutcomeTold: true,
    AssistantMessageRecorded: true, RunLimitReached: true, RunCompleted: true, RunFailed: true,
    RunCancelled: true, RunTimedOut: true, MessageForked: true,
  },
})
