import { refusal } from '../refusal.ts'
import type { AgentLimits } from '../run-limits.ts'
import type { Sealed } from '../sealed.ts'
import { endPaused, withdrawn } from './approvals.ts'
import { afterRun, type ClientResult, requireOpen, unanswered } from './client-calls.ts'
import type { MessagePart, SessionEvent } from './events.ts'
import { uncharged } from './running.ts'
import { recentBefore, type Session, type Turn } from './session.ts'
import { isOwn, type Viewer } from './viewer.ts'

const interrupted = { code: 'interrupted', ...uncharged }

export type Send = {
  viewer: Viewer
  keyId: string | null
  /** Undefined leaves the session as it is; a new one is visible unless told otherwise. */
  hidden: boolean | undefined
  messageId: string
  /** The message is answered also where its turn, the session's latest, was cancelled. */
  askAgain?: true
  runId: string
  /** The user's message, or the client's results for all calls that are open. */
  content: Sealed | readonly ClientResult[]
  /** Files of the message. */
  parts?: readonly MessagePart[] | undefined
  agentId: string
  agent: string
  node: string
  payerId: string
  /** The run that the latest turn has to be. */
  follows?: string
  /** What a resume needs of the request, if anything. */
  request?: Sealed
  /** The client's own history: stored where the session has none. */
  before?: Sealed
  /** Both were too large to be stored. */
  kept?: false
  /** What the answer repeats of the request. */
  echo?: Sealed
  /** Of the run, if it has any. */
  limits?: AgentLimits
  /** The agent is not saved; `request` has it. */
  draft?: true
  /** No process executes it before it is resumed. */
  queued?: true
}

const messageOf = (
  { messageId, runId, parts }: Send,
  content: Sealed,
): SessionEvent<'UserMessageSent'> => {
  const data = { messageId, runId, content }
  return {
    type: 'UserMessageSent',
    data: parts && parts.length > 0 ? { ...data, parts: [...parts] } : data,
  }
}

const startOf = (send: Send): SessionEvent<'RunStarted'> => {
  const { runId, messageId, agentId, agent, node, payerId } = send
  const { limits, request, draft, queued, echo } = send
  const data: SessionEvent<'RunStarted'>['data'] = {
    runId,
    messageId,
    agentId,
    agent,
    node,
    payerId,
    attempt: 1,
  }
  if (limits) data.limits = limits
  if (request) data.request = request
  if (send.kept === false) data.kept = false
  if (draft) data.draft = draft
  if (queued) data.queued = queued
  if (echo) data.echo = echo
  return { type: 'RunStarted', data }
}

/** Whether a run is begun for a message that was sent before. */
export const mayRunAgain = (
  { askAgain }: Pick<Send, 'askAgain'>,
  earlierTurn: Turn,
  { turns }: Session,
): boolean =>
  earlierTurn.outcome === 'failed' ||
  (askAgain === true && earlierTurn.outcome === 'cancelled' && earlierTurn === turns.at(-1))

/**
 * A user's message begins a run, and so do the results of the client's tools. A message that was
 * sent before is not recorded again: its answer stands (no events), or, where `mayRunAgain`, a new
 * run is begun for it. A process has one turn of a session at a time, so a run that its own process
 * left open (its end could not be stored) is closed first. A run that waits for somebody is
 * cancelled. @throws invalid_tool_result, response_continued
 */
export const decideSend =
  (send: Send) =>
  (state: Session): SessionEvent[] => {
    const { viewer, keyId, hidden, messageId, runId, content, follows } = send
    if (state.status === 'erased' || state.status === 'forking') throw refusal('session_not_found')
    if (state.running?.runId === runId) return []
    const isWaiting = state.paused !== null || state.running?.queued === true
    const abandoned = !isWaiting && state.running?.node === send.node ? state.running : null
    if (state.status === 'open' && !isOwn(viewer, state)) throw refusal('session_not_found')
    const earlierTurn = state.turns.find((turn) => turn.messageId === messageId)
    const isStored = earlierTurn !== undefined || !('box' in content)
    const messagesBefore = recentBefore(state, messageId).length - (isStored ? 1 : 0)
    const isAnswered = earlierTurn && !mayRunAgain(send, earlierTurn, state)
    if (isAnswered && earlierTurn.runId !== abandoned?.runId) return []
    if (state.running && !abandoned && !state.paused) throw refusal('session_busy')
    const latest = state.turns.findLast((turn) => turn !== earlierTurn)
    if (follows !== undefined && latest?.runId !== follows) throw refusal('response_continued')
    const events: SessionEvent[] = endPaused(state, 'new_message')
    if (abandoned)
      events.push(...withdrawn(state, abandoned.runId, 'ended'), {
        type: 'RunFailed',
        data: { runId: abandoned.runId, ...interrupted },
      })
    if (state.status === 'unknown')
      events.push({
        type: 'SessionCreated',
        data: { userId: viewer.userId, keyId, hidden: hidden ?? false },
      })
    else if (hidden !== undefined && hidden !== state.hidden)
      events.push({ type: 'SessionVisibilityChanged', data: { hidden } })
    const started = startOf(send)
    if (send.before && messagesBefore <= 0) started.data.before = send.before
    const waiting =
      abandoned && state.waiting ? afterRun(state.waiting, abandoned.runId, true) : state.waiting
    if ('box' in content) {
      if (waiting) events.push(unanswered(waiting))
      if (!earlierTurn) events.push(messageOf(send, content))
      events.push(started)
      return events
    }
    const { runId: continues, calls } = requireOpen(waiting, content)
    if (!earlierTurn)
      for (const { id: toolId, name: tool } of calls)
        for (const result of content)
          if (result.toolId === toolId)
            events.push({ type: 'ClientToolAnswered', data: { ...result, runId, tool } })
    started.data.continues = continues
    events.push(started)
    return events
  }
