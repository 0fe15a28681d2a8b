import type { RunOwner } from '../src/domain/session/running.ts'
import { decideResume, isExhausted } from '../src/domain/session/runs.ts'
import { sessionStream } from '../src/domain/session/session.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

export type ResumeRun = {
  sessionId: string
  runId: string
  /** Whose it is now. */
  from: RunOwner
  /** The process that takes it over. */
  node: string
  /** Other suspects are in flight in that process. */
  besideSuspects?: boolean | undefined
}

/**
 * Takes a run over from a process that is gone, or from the queue. `attempt` is absent where it was
 * not taken: it has ended, it is another's by now, or (`exhausted`) this was its last attempt.
 */
export const resumeRun =
  ({ transact }: { transact: Transact }) =>
  async ({ sessionId, ...resume }: ResumeRun, call: Call) => {
    const stream = sessionStream(call.organizationId, sessionId)
    const { events, state, position } = await transact(stream, decideResume(resume), call)
    const [resumed] = events
    const attempt = resumed?.type === 'RunDequeued' ? 1 : resumed?.data.attempt
    return {
      attempt,
      exhausted: !resumed && isExhausted(resume, state),
      session: state,
      position,
    }
  }
export type ResumeRunCommand = ReturnType<typeof resumeRun>
