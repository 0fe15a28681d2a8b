import { type Aggregate, streamOf } from '../aggregate.ts'
import { refusal } from '../refusal.ts'
import type { Sealed } from '../sealed.ts'
import {
  type Approval,
  canGoOn,
  endPaused,
  evolveApprovals,
  noApprovals,
  type PausedRun,
} from './approvals.ts'
import {
  afterRun,
  type ClientResult,
  requireOpen,
  unanswered,
  type WaitingCalls,
} from './client-calls.ts'
import type { Doubt } from './doubts.ts'
import { type MessagePart, type SessionEvent, sessionEvents } from './events.ts'

/** How many messages a session remembers for the next turn's context. */
const remembered = 40
/** How many turns back a repeated request is still recognised. */
const recognised = 20

export type Remembered = {
  role: 'user' | 'assistant'
  content: Sealed
  parts?: readonly MessagePart[]
}

/** One turn as far as repeating it matters. */
export type Turn = {
  messageId: string
  runId: string
  outcome: 'running' | 'completed' | 'cancelled' | 'failed'
}

/** A fork: the first so many messages of a session, the last of them `after` (null: none). */
export type Fork = {
  /** The same when the same request is made again. */
  forkId: string
  forkedFrom: string
  after: string | null
  messages: number
}

/** The process that a run is run by, and in which attempt: no other appends to it. */
export type RunOwner = { node: string; attempt: number }

export type Session = {
  status: 'unknown' | 'forking' | 'open' | 'erased'
  ownerId: string
  keyId: string | null
  hidden: boolean
  /** The run under way, and whose it is. `base` is the attempt in which it last waited for somebody or was handed over; 0: it never was. */
  running: (RunOwner & { runId: string; payerId: string; base: number }) | null
  recent: readonly Remembered[]
  turns: readonly Turn[]
  /** Calls that the client is to answer. The last recent message is then the one they were made for. */
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

const withMessage = (messages: readonly Remembered[], one: Remembered): readonly Remembered[] =>
  messages.length < remembered ? [...messages, one] : [...messages.slice(1 - remembered), one]

const ended = (state: Session, runId: string, outcome: Turn['outcome']): Session => ({
  ...state,
  ...(state.running?.runId === runId ? noApprovals : {}),
  running: state.running?.runId === runId ? null : state.running,
  turns: state.turns.map((turn) => (turn.runId === runId ? { ...turn, outcome } : turn)),
  waiting: state.waiting && afterRun(state.waiting, runId, outcome === 'failed'),
})

const same = (state: Session): Session => state

const isRunBy = (running: RunOwner, owner: RunOwner | undefined): boolean =>
  !owner || (running.node === owner.node && running.attempt === owner.attempt)

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
  stateVersion: 6,
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
    UserMessageSent: (state, { content, parts }) => ({
      ...state,
      recent: withMessage(state.recent, {
        role: 'user',
        content,
        ...(parts === undefined ? {} : { parts }),
      }),
    }),
    RunStarted: (state, { runId, messageId, node, payerId, continues }) => ({
      ...state,
      waiting:
        state.waiting && continues !== undefined
          ? { ...state.waiting, answeredIn: runId }
          : state.waiting,
      ...noApprovals,
      running: { runId, node, attempt: 1, base: 0, payerId },
      turns: [
        ...state.turns.filter((turn) => turn.messageId !== messageId).slice(1 - recognised),
        { messageId, runId, outcome: 'running' },
      ],
    }),
    RunResumed: (state, { runId, node, attempt }) =>
      state.running?.runId === runId
        ? {
            ...state,
            ...evolveApprovals.resumed(state),
            running: { ...state.running, node, attempt },
          }
        : state,
    RunHandedOver: (state, { runId }) =>
      state.running?.runId === runId
        ? { ...state, running: { ...state.running, base: state.running.attempt } }
        : state,
    AgentStarted: same,
    AgentCompleted: same,
    AgentRouted: same,
    ModelAnswered: same,
    ToolStarted: same,
    ToolCompleted: same,
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
      running: state.running && { ...state.running, base: state.running.attempt },
    }),
    ToolOutcomeTold: (state, data) => ({ ...state, ...evolveApprovals.outcomeTold(state, data) }),
    // What is said beside a call belongs to a turn that is not over.
    AssistantMessageRecorded: (state, { content, toolCalls }) =>
      toolCalls
        ? state
        : { ...state, recent: withMessage(state.recent, { role: 'assistant', content }) },
    RunCompleted: (state, { runId }) => ended(state, runId, 'completed'),
    RunFailed: (state, { runId }) => ended(state, runId, 'failed'),
    RunCancelled: (state, { runId }) => ended(state, runId, 'cancelled'),
    RunTimedOut: (state, { runId }) => ended(state, runId, 'failed'),
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

export const sessionStream = (organizationId: string, sessionId: string) =>
  streamOf(session, organizationId, sessionId)

/** Who looks at a session (docs/contract/sessions.md#ownership). */
export type Viewer = {
  /** The user acted for, else the key's backing user. */
  userId: string
  /** Set for an organization key without delegation: it sees the sessions made through it. */
  onlyKeyId: string | null
}

/** Whether a session is the viewer's; to anyone else it does not exist. */
export const isOwn = (viewer: Viewer, owner: { ownerId: string; keyId: string | null }): boolean =>
  owner.ownerId === viewer.userId && (!viewer.onlyKeyId || owner.keyId === viewer.onlyKeyId)

const free = { promptTokens: 0, completionTokens: 0, charge: 0 }
const interrupted = { code: 'interrupted', ...free }

export type Send = {
  viewer: Viewer
  keyId: string | null
  /** Undefined leaves the session as it is; a new one is visible unless told otherwise. */
  hidden: boolean | undefined
  messageId: string
  runId: string
  /** The user's message, or the client's results for all calls that are open. */
  content: Sealed | readonly ClientResult[]
  /** Files of the message. */
  parts?: readonly MessagePart[] | undefined
  agentId: string
  agent: string
  node: string
  payerId: string
  fingerprint?: string
  /** The run that the latest turn has to be. */
  follows?: string
  /** What a resume needs of the request, if anything. */
  request?: Sealed
  /** What came before by the client's word: stored where the session has no history. */
  before?: Sealed
  /** Both were too large to be stored. */
  kept?: false
}

/**
 * A user's message begins a run, and so do the results of the client's tools. A message that was sent before is not recorded again: its answer
 * stands (no events), or, when its run failed, a new run is begun for it. A process has one turn
 * of a session at a time, so a run that its own process left open (its end could not be stored) is
 * closed first. A run that waits for somebody is cancelled. @throws invalid_tool_result, response_continued
 */
export const decideSend =
  (send: Send) =>
  (state: Session): SessionEvent[] => {
    const { viewer, keyId, hidden, messageId, runId, content, follows, ...rest } = send
    const { before: imported, parts = [], ...given } = rest
    if (state.status === 'erased' || state.status === 'forking') throw refusal('session_not_found')
    if (state.running?.runId === runId) return []
    const left = !state.paused && state.running?.node === given.node ? state.running : null
    if (state.status === 'open' && !isOwn(viewer, state)) throw refusal('session_not_found')
    const before = state.turns.find((turn) => turn.messageId === messageId)
    const earlier = state.recent.length - (before || !('box' in content) ? 1 : 0)
    const run = imported && earlier <= 0 ? { ...given, before: imported } : given
    if (before && before.outcome !== 'failed' && before.runId !== left?.runId) return []
    if (state.running && !left && !state.paused) throw refusal('session_busy')
    const latest = state.turns.findLast((turn) => turn !== before)
    if (follows !== undefined && latest?.runId !== follows) throw refusal('response_continued')
    const events: SessionEvent[] = endPaused(state, 'new_message')
    if (left) events.push({ type: 'RunFailed', data: { runId: left.runId, ...interrupted } })
    if (state.status === 'unknown')
      events.push({
        type: 'SessionCreated',
        data: { userId: viewer.userId, keyId, hidden: hidden ?? false },
      })
    else if (hidden !== undefined && hidden !== state.hidden)
      events.push({ type: 'SessionVisibilityChanged', data: { hidden } })
    const waiting =
      left && state.waiting ? afterRun(state.waiting, left.runId, true) : state.waiting
    if ('box' in content) {
      if (waiting) events.push(unanswered(waiting))
      const files = parts.length > 0 ? { parts: [...parts] } : {}
      if (!before)
        events.push({ type: 'UserMessageSent', data: { messageId, runId, content, ...files } })
      events.push({ type: 'RunStarted', data: { runId, messageId, ...run, attempt: 1 } })
      return events
    }
    const { runId: continues, calls } = requireOpen(waiting, content)
    if (!before)
      for (const { id: toolId, name: tool } of calls)
        for (const one of content)
          if (one.toolId === toolId)
            events.push({ type: 'ClientToolAnswered', data: { ...one, runId, tool } })
    events.push({ type: 'RunStarted', data: { runId, messageId, ...run, attempt: 1, continues } })
    return events
  }

/** Steps of a run as they happen; nothing once the run has ended, or is another process's. */
export const decideRecord =
  (runId: string, steps: readonly SessionEvent[], owner?: RunOwner) =>
  ({ running }: Session): readonly SessionEvent[] =>
    running?.runId === runId && isRunBy(running, owner) ? steps : []

/** How often a run is tried before it is closed as interrupted; anew after it waited or was handed over. */
export const mostAttempts = 3

/**
 * A process takes over a run that `from` had; nothing when the run has ended, when it is no longer
 * that process's, and after the last attempt. One that waits for somebody goes on when there is something to
 * go on with.
 */
export const decideResume =
  ({ runId, from, node }: { runId: string; from: RunOwner; node: string }) =>
  (state: Session): SessionEvent<'RunResumed'>[] => {
    const { running } = state
    if (running?.runId !== runId || !isRunBy(running, from)) return []
    const { attempt, base } = running
    const may = state.paused ? canGoOn(state) : attempt - base < mostAttempts
    return may ? [{ type: 'RunResumed', data: { runId, node, attempt: attempt + 1 } }] : []
  }

/** Whether a run that `from` had was tried as often as it is. */
export const isExhausted = (
  { runId, from }: { runId: string; from: RunOwner },
  { running, paused }: Session,
): boolean =>
  running?.runId === runId &&
  isRunBy(running, from) &&
  !paused &&
  running.attempt - running.base >= mostAttempts

/**
 * Erases a session of that owner, or what there is of a fork; its id is never taken again. A run that another process has under
 * way ends here. @throws session_not_found
 */
export const decideErase =
  ({ sessionOwner, deletedBy }: { sessionOwner: string; deletedBy: string | null }) =>
  ({ status, ownerId, running }: Session): SessionEvent<'RunCancelled' | 'SessionErased'>[] => {
    const there = status === 'open' || status === 'forking'
    if (!there || ownerId !== sessionOwner) throw refusal('session_not_found')
    const delegated = deletedBy !== sessionOwner
    const erased = {
      type: 'SessionErased',
      data: { deletedBy, sessionOwner, delegated },
    } as const
    if (!running) return [erased]
    return [{ type: 'RunCancelled', data: { runId: running.runId, ...free } }, erased]
  }
