import { runTimeOutMs } from '../src/domain/run-limits.ts'
import type { FindSession, OneSession } from './find-session.ts'
import { elapsedOf, type SessionClock } from './session-state.ts'

const timedOut = 'The request was cancelled automatically after 30 minutes of processing'

/** Whether a turn is under way (GET /api/external/sessions/{session_id}/status). */
export const getSessionStatus =
  ({ findSession, clock }: { findSession: FindSession; clock: SessionClock }) =>
  async (session: OneSession) => {
    const { run } = await findSession(session)
    const session_id = session.sessionId
    if (!run || run.state === 'ended') return { session_id, is_processing: false }
    const { started_at, current_agent, state, in_doubt: doubts } = run
    if (state === 'awaiting_approval' || state === 'in_doubt') {
      const in_doubt = doubts?.map(({ at: _, ...call }) => call)
      const doubtField = in_doubt ? { in_doubt } : {}
      return { session_id, is_processing: false, state, started_at, current_agent, ...doubtField }
    }
    if (state === 'queued')
      return {
        session_id,
        is_processing: true,
        state,
        started_at,
        current_agent,
        elapsed_seconds: 0,
      }
    const elapsedMs = elapsedOf(run, clock)
    if (state === 'timed_out' || elapsedMs >= runTimeOutMs)
      return { session_id, is_processing: false, timed_out: true, message: timedOut }
    const elapsed_seconds = elapsedMs / 1000
    return { session_id, is_processing: true, started_at, current_agent, elapsed_seconds }
  }
export type GetSessionStatus = ReturnType<typeof getSessionStatus>
