import { latest } from '../src/domain/event.ts'
import { endWaiting } from '../src/domain/session/approvals.ts'
import { type Session, sessionStream } from '../src/domain/session/session.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import { settleClosed } from './settle-closed.ts'

/** Cancels a session's queued or paused run (only `runId`, if given) and settles its credits. */
export const cancelPausedRun =
  ({ transact }: { transact: Transact }) =>
  async ({ sessionId, runId }: { sessionId: string; runId?: string }, call: Call) => {
    let payerId: string | undefined
    const decide = (state: Session) => {
      if (runId !== undefined && state.running?.runId !== runId) return []
      payerId = state.running?.payerId
      return endWaiting(state, 'cancelled')
    }
    const stream = sessionStream(call.organizationId, sessionId)
    const { events, position } = await transact(stream, decide, call)
    const settled = await settleClosed({ transact })(events, payerId, call)
    return { cancelled: events.length > 0, position: latest(position, ...settled) }
  }
export type CancelPausedRunCommand = ReturnType<typeof cancelPausedRun>
