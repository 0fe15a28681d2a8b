import type { FindSession, OneSession } from './find-session.ts'

const timedOut = 'The request was cancelled automatically after 30 minutes of processing'

/** Whether a turn is under way (GET /api/external/sessions/{session_id}/status). */
export const sessionStatus =
  ({ findSession, now }: { findSession: FindSession; now(): Date }) =>
  async (one: OneSession) => {
    const { run } = await findSession(one)
    const session_id = one.sessionId
    if (run?.state === 'timed_out')
      return { session_id, is_processing: false, timed_out: true, message: timedOut }
    if (run?.state !== 'processing') return { session_id, is_processing: false }
    const { started_at, current_agent } = run
    const elapsed_seconds = Math.max(0, (now().getTime() - Date.parse(started_at)) / 1000)
    return { session_id, is_processing: true, started_at, current_agent, elapsed_seconds }
  }
export type SessionStatus = ReturnType<typeof sessionStatus>
