import { z } from 'zod'
import type { Recorded } from '../src/domain/event.ts'
import { sealed } from '../src/domain/sealed.ts'
import { sessionEvents } from '../src/domain/session/events.ts'
import { incomplete, listPosition, opened, text, timestamp } from './fields.ts'
import { idIn, projection, without } from './projection.ts'

export const approvalStatuses = ['pending', 'approved', 'denied', 'expired', 'withdrawn'] as const

/**
 * A call that waits, or waited, for a decision; its arguments stay sealed and are opened when read.
 */
export const approvalView = z.object({
  approval_id: text,
  organization_id: text,
  session_id: text,
  run_id: text,
  tool_id: text,
  tool_name: text,
  agent_name: text,
  arguments: sealed,
  arguments_digest: text,
  status: z.enum(approvalStatuses),
  approver: sessionEvents.ApprovalRequested.shape.approver,
  requested_at: timestamp,
  expires_at: timestamp,
  decided_at: timestamp.nullable(),
  /** The user who decided; null for the platform, and where nobody did. */
  decided_by: text.nullable(),
  reason: sealed.nullable(),
  /** The session's owner, and the key that it was made through. */
  user_id: text,
  key_id: text.nullable(),
  /** The place of the call in its run. */
  at: text,
  /** Position of its request. */
  position: listPosition,
  incomplete,
})
export type ApprovalView = z.infer<typeof approvalView>

/** Neither in feeds nor in past states. */
const inner = { position: true } as const

const decided = (
  view: ApprovalView,
  at: string,
  change: Pick<ApprovalView, 'status'> & Partial<ApprovalView>,
): ApprovalView => ({ ...view, decided_at: at, ...change })

const ofStream = ({ stream, metadata }: Recorded) => ({
  index: 'by_session',
  equals: [metadata.organization_id, idIn(stream)],
})

export const approvals = projection<ApprovalView, typeof sessionEvents>()({
  name: 'approvals',
  schema: approvalView,
  version: 2,
  shown: {
    schema: approvalView.omit(inner).extend({ arguments: opened, reason: opened.nullable() }),
    document: (view) => without(view, inner),
  },
  categories: ['session'],
  events: sessionEvents,
  indexes: {
    by_user: { equals: ['organization_id', 'user_id'], orderBy: 'position' },
    by_user_status: { equals: ['organization_id', 'user_id', 'status'], orderBy: 'position' },
    by_key: { equals: ['organization_id', 'user_id', 'key_id'], orderBy: 'position' },
    by_key_status: {
      equals: ['organization_id', 'user_id', 'key_id', 'status'],
      orderBy: 'position',
    },
    by_approver: { equals: ['organization_id', 'approver'], orderBy: 'position' },
    by_approver_status: {
      equals: ['organization_id', 'approver', 'status'],
      orderBy: 'position',
    },
    by_status: { equals: ['status'], orderBy: 'expires_at', totals: false },
    by_run: { equals: ['run_id'], orderBy: 'position', totals: false },
    by_session: { equals: ['organization_id', 'session_id'], totals: false },
  },
  id: ({ data }) => ('approvalId' in data ? data.approvalId : []),
  creates: {
    ApprovalRequested: ({ stream, metadata, data, position }) => ({
      approval_id: data.approvalId,
      organization_id: metadata.organization_id,
      session_id: idIn(stream),
      run_id: data.runId,
      tool_id: data.toolId,
      tool_name: data.tool,
      agent_name: data.agent,
      arguments: data.arguments,
      arguments_digest: data.argumentsDigest,
      status: 'pending',
      approver: data.approver,
      requested_at: metadata.at,
      expires_at: data.expiresAt,
      decided_at: null,
      decided_by: null,
      reason: null,
      user_id: data.userId,
      key_id: data.keyId,
      at: data.at,
      position,
    }),
  },
  changes: {
    ApprovalDecided: (view, { data, metadata }) =>
      decided(view, metadata.at, {
        status: data.decision === 'approve' ? 'approved' : 'denied',
        decided_by: data.by,
        reason: data.reason ?? null,
      }),
    ApprovalExpired: (view, { metadata }) => decided(view, metadata.at, { status: 'expired' }),
    ApprovalWithdrawn: (view, { metadata }) => decided(view, metadata.at, { status: 'withdrawn' }),
  },
  ofStream,
  clears: { SessionErased: ofStream },
  // biome-ignore format: few lines
  ignores: {
    SessionCreated: true, SessionVisibilityChanged: true, UserMessageSent: true, RunStarted: true,
    RunDequeued: true, RunResumed: true, RunCleared: true, RunHandedOver: true, AgentStarted: true,
    AgentCompleted: true, AgentRouted: true, ModelAnswered: true, ToolStarted: true,
    ToolCompleted: true, ClientToolsCalled: true, ClientToolAnswered: true,
    ClientToolsUnanswered: true, RunPaused: true, ToolOutcomeTold: true,
    AssistantMessageRecorded: true, RunLimitReached: true, RunCompleted: true, RunFailed: true,
    RunCancelled: true, RunTimedOut: true, ForkBegun: true, MessageForked: true,
    SessionForked: true,
  },
})
