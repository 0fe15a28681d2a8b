import { accountStream, decideRelease, decideReserve } from '../src/domain/account/account.ts'
import { latest, type Position } from '../src/domain/event.ts'
import { Refusal } from '../src/domain/refusal.ts'
import { decideSend, mayRunAgain, type Send } from '../src/domain/session/send.ts'
import { type Session, sessionStream } from '../src/domain/session/session.ts'
import { isOwn } from '../src/domain/session/viewer.ts'
import type { Transactor } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import { settleClosed } from './settle-closed.ts'

/** Sealed by the session's key: the text or the results, and the fields that a resume needs. */
export type SealedMessage = Pick<Send, 'content' | 'request' | 'before' | 'kept' | 'parts' | 'echo'>

export type SendMessage = Omit<Send, keyof SealedMessage> & {
  sessionId: string
  /** The session's id was made for this message. */
  isNew?: boolean
  /** Called once the credits are reserved. */
  seal: () => Promise<SealedMessage>
  /** Micro-credits held back until the run is settled. */
  reserve: number
}

/** `begun` is false for a message sent before; `runId` is then the run that answers it. */
export type Sent = {
  begun: boolean
  runId: string | undefined
  session: Session
  position: Position
}

/**
 * Reserves credits, then stores a user's message or the client's tool results, and starts the run.
 * Both appends are on disk when it resolves. The second starts once the first is decided, so they
 * share a commit. A paused run of the session is cancelled and settled.
 * @throws insufficient_credits, session_not_found, session_busy, invalid_tool_result
 */
export const sendMessage = ({ begin: beginDecision, load, transact }: Transactor) => {
  const settle = settleClosed({ transact })

  /** The result for a message that was sent before, unless its run may begin again. */
  const sentBefore = async (message: SendMessage, call: Call) => {
    const { sessionId, messageId, viewer } = message
    const { state, position } = await load(sessionStream(call.organizationId, sessionId))
    const turn = state.turns.find((candidate) => candidate.messageId === messageId)
    if (!turn || mayRunAgain(message, turn, state) || !isOwn(viewer, state)) return undefined
    return { begun: false, runId: turn.runId, session: state, position }
  }

  return async (message: SendMessage, call: Call): Promise<Sent> => {
    const { sessionId, messageId, runId, payerId, isNew } = message
    const account = accountStream(payerId)
    const reserved = beginDecision(account, decideReserve({ runId, amount: message.reserve }), call)
    try {
      await reserved.decided
    } catch (error) {
      // A repeated request gets its answer, even if the balance no longer suffices.
      const before = error instanceof Refusal ? await sentBefore(message, call) : undefined
      if (before) return before
      throw error
    }
    try {
      const decideOn = decideSend({ ...message, ...(await message.seal()) })
      let payerBefore: string | undefined
      const decide = (state: Session) => {
        payerBefore = state.running?.payerId
        return decideOn(state)
      }
      const stream = sessionStream(call.organizationId, sessionId, isNew)
      // Both are under way: neither waits for the other.
      const { events, state, position } = await transact(stream, decide, call)
      const held = await reserved.stored
      const turn = state.turns.find((candidate) => candidate.messageId === messageId)
      const isOwnRun = turn?.runId === runId
      if (!isOwnRun) await transact(account, decideRelease({ runId, reason: 'repeated' }), call)
      const closed = payerBefore === undefined ? [] : await settle(events, payerBefore, call)
      const last = latest(position, held.position, ...closed)
      return { begun: isOwnRun, runId: turn?.runId, session: state, position: last }
    } catch (error) {
      await transact(account, decideRelease({ runId, reason: 'refused' }), call)
      throw error
    }
  }
}
export type SendMessageCommand = ReturnType<typeof sendMessage>
