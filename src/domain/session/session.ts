import { type Aggregate, streamOf } from '../aggregate.ts'
import { limitCode } from '../run-limits.ts'
import type { Sealed } from '../sealed.ts'
import { type Approval, evolveApprovals, noApprovals, type PausedRun } from './approvals.ts'
import { afterRun, type WaitingCalls } from './client-calls.ts'
import type { Doubt } from './doubts.ts'
import { type MessagePart, sessionEvents } from './events.ts'
import { evolveRunning, firstAttempt, type Running } from './running.ts'

/** How many messages a session remembers for the next turn's context: two for each turn. */
const remembered = 40
/** How many turns back a repeated request is still recognised. */
const recognised = 20

export type Remembered = {
  role: 'user' | 'assistant'
  content: Sealed
  parts?: readonly MessagePart[]
  /** Of a user's message that was sent here, not copied. */
  messageId?: string
}

/** One turn as far as repeating it matters. */
export type Turn = {
  messageId: string
  runId: string
  outcome: 'running' | 'completed' | 'cancelled' | 'limited' | 'failed'
}

/** A fork: the first so many messages of a session, the last of them `after` (null: none). */
export type Fork = {
  /** The same when the same request is made again. */
  forkId: string
  forkedFrom: string
  after: string | null
  messages: number
}

export type Session = {
  status: 'unknown' | 'forking' | 'open' | 'erased'
  ownerId: string
  keyId: string | null
  hidden: boolean
  running: Running | null
  recent: readonly Remembered[]
  turns: readonly Turn[]
  /**
   * Calls that the client is to answer. The last recent message is then the one they were made for.
   */
  waiting: WaitingCalls | null
  /** What it was forked from, and how many messages of that are copied. */
  fork: (Fork & { copied: number }) | null
  /** Of the run under way. */
  approvals: readonly Approval[]
  /** Calls of the run under way that it was not known of whether they were made. */
  doubts: readonly Doubt[]
  /** What the run under way has come to, where it waits for somebody and no process runs it. */
  paused: PausedRun | null
}

const withMessage = (
  messages: readonly Remembered[],
  message: Remembered,
): readonly Remembered[] =>
  messages.length < remembered
    ? [...messages, message]
    : [...messages.slice(1 - remembered), message]

const afterEnd = (state: Session, runId: string, outcome: Turn['outcome']): Session => {
  const isRunning = state.running?.runId === runId
  const { approvals, doubts, paused } = isRunning ? noApprovals : state
  return {
    ...state,
    approvals,
    doubts,
    paused,
    running: isRunning ? null : state.running,
    turns: state.turns.map((turn) => (turn.runId === runId ? { ...turn, outcome } : turn)),
    waiting: state.waiting && afterRun(state.waiting, runId, outcome === 'failed'),
  }
}

/**
 * What a run begins with: the message that it answers comes last. Where the same message is asked
 * again at once, the cancelled answer to it is left out; where it failed before other turns, it
 * moves behind them.
 */
export const recentBefore = (
  { recent, turns }: Session,
  messageId: string,
): readonly Remembered[] => {
  const last = recent.at(-1)
  if (turns.at(-1)?.messageId === messageId)
    return last?.role === 'assistant' ? recent.slice(0, -1) : recent
  const message = recent.find((earlier) => earlier.messageId === messageId)
  if (!message || message === last) return recent
  return [...recent.filter((other) => other !== message), message]
}

const same = (state: Session): Session => state

/** Changes the run under way, if it is that one. */
const ofRun = (state: Session, runId: string, change: (running: Running) => Running): Session => {
  const { running } = state
  if (running?.runId !== runId) return state
  const changed = change(running)
  return changed === running ? state : { ...state, running: changed }
}

const stepRecorded = (state: Session, { runId }: { runId: string }): Session =>
  ofRun(state, runId, evolveRunning.recorded)

export const session: Aggregate<Session, typeof sessionEvents> = {
  category: 'session',
  events: sessionEvents,
  initial: {
    status: 'unknown',
    ownerId: '',
    keyId: null,
    hidden: false,
    running: null,
    recent: [],
    turns: [],
    waiting: null,
    fork: null,
    ...noApprovals,
  },
  stateVersion: 10,
  weigh: ({ recent, turns, waiting, approvals, doubts, paused }) =>
    recent.reduce(
      (sum, { content, parts = [] }) => sum + content.box.length + 200 + parts.length * 600,
      (turns.length + approvals.length + 2 * doubts.length) * 200 +
        (paused?.text?.box.length ?? 0) +
        (waiting ? waiting.state.box.length + waiting.calls.length * 200 : 0),
    ),
  evolve: {
    SessionCreated: (state, { userId, keyId, hidden }) => ({
      ...state,
      status: 'open',
      ownerId: userId,
      keyId,
      hidden,
    }),
    SessionVisibilityChanged: (state, { hidden }) => ({ ...state, hidden }),
    UserMessageSent: (state, { messageId, content, parts }) => ({
      ...state,
      recent: withMessage(
        state.recent,
        parts ? { role: 'user', messageId, content, parts } : { role: 'user', messageId, content },
      ),
    }),
    RunStarted: (state, { runId, messageId, node, payerId, continues, queued }) => ({
      ...state,
      recent: recentBefore(state, messageId),
      waiting:
        state.waiting && continues !== undefined
          ? { ...state.waiting, answeredIn: runId }
          : state.waiting,
      approvals: noApprovals.approvals,
      doubts: noApprovals.doubts,
      paused: noApprovals.paused,
      running: { runId, node, payerId, ...firstAttempt, ...(queued ? { queued } : {}) },
      turns: [
        ...state.turns.filter((turn) => turn.messageId !== messageId).slice(1 - recognised),
        { messageId, runId, outcome: 'running' },
      ],
    }),
    RunDequeued: (state, { runId, node }) =>
      ofRun(state, runId, ({ queued: _, ...running }) => ({ ...running, node })),
    RunResumed: (state, { runId, ...resumed }) =>
      state.running?.runId === runId
        ? {
            ...state,
            ...evolveApprovals.resumed(state),
            running: evolveRunning.resumed(state.running, resumed),
          }
        : state,
    RunCleared: (state, { runId }) => ofRun(state, runId, evolveRunning.cleared),
    RunHandedOver: (state, { runId }) => ofRun(state, runId, evolveRunning.rested),
    AgentStarted: same,
    AgentCompleted: same,
    AgentRouted: same,
    ModelAnswered: stepRecorded,
    ToolStarted: stepRecorded,
    ToolCompleted: stepRecorded,
    ClientToolsCalled: (state, called) => ({ ...state, waiting: { ...called, answeredIn: null } }),
    ClientToolAnswered: same,
    ClientToolsUnanswered: (state) => ({ ...state, waiting: null }),
    ApprovalRequested: (state, data) => ({ ...state, ...evolveApprovals.requested(state, data) }),
    ApprovalDecided: (state, data) => ({ ...state, ...evolveApprovals.decided(state, data) }),
    ApprovalExpired: (state, data) => ({ ...state, ...evolveApprovals.expired(state, data) }),
    ApprovalWithdrawn: same,
    RunPaused: (state, data) => ({
      ...state,
      ...evolveApprovals.paused(state, data),
      running: state.running && evolveRunning.rested(state.running),
    }),
    ToolOutcomeTold: (state, data) => ({ ...state, ...evolveApprovals.outcomeTold(state, data) }),
    // What is said beside a call belongs to a turn that is not over.
    AssistantMessageRecorded: (state, { content, toolCalls }) =>
      toolCalls
        ? state
        : { ...state, recent: withMessage(state.recent, { role: 'assistant', content }) },
    RunCompleted: (state, { runId }) => afterEnd(state, runId, 'completed'),
    RunLimitReached: same,
    // A run that used up what it may is not begun anew by the same message.
    RunFailed: (state, { runId, code }) =>
      afterEnd(state, runId, code === limitCode ? 'limited' : 'failed'),
    RunCancelled: (state, { runId }) => afterEnd(state, runId, 'cancelled'),
    RunTimedOut: (state, { runId }) => afterEnd(state, runId, 'failed'),
    ForkBegun: (state, { userId, keyId, hidden, node: _, ...fork }) => ({
      ...state,
      status: 'forking',
      ownerId: userId,
      keyId,
      hidden,
      fork: { ...fork, copied: 0 },
    }),
    MessageForked: (state, { saidBy, content, toolCalls, parts }) => ({
      ...state,
      fork: state.fork && { ...state.fork, copied: state.fork.copied + 1 },
      recent:
        saidBy === 'tool' || toolCalls
          ? state.recent
          : withMessage(state.recent, {
              role: saidBy,
              content,
              ...(parts === undefined ? {} : { parts }),
            }),
    }),
    SessionForked: (state) => ({ ...state, status: 'open' }),
    SessionErased: (state) => ({
      ...state,
      status: 'erased',
      running: null,
      recent: [],
      turns: [],
      waiting: null,
      fork: null,
      ...noApprovals,
    }),
  },
}

export const sessionStream = (organizationId: string, sessionId: string, isNew = false) =>
  streamOf(session, organizationId, sessionId, isNew)
