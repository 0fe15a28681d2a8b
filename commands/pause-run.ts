import { canGoOn, decidePause, type Pause } from '../src/domain/session/approvals.ts'
import type { SessionEvent } from '../src/domain/session/events.ts'
import type { RunOwner } from '../src/domain/session/running.ts'
import { decideRecord } from '../src/domain/session/runs.ts'
import { sessionStream } from '../src/domain/session/session.ts'
import { inPieces } from '../src/event-sourcing/in-pieces.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

export type PauseRun = Pause & {
  sessionId: string
  owner: RunOwner
  /** What is still to be stored of the run. */
  steps: readonly SessionEvent[]
}

/**
 * Pauses a run until a decision; `paused` is false if it has ended in the meantime. Its credits
 * stay reserved. `goesOn`: a decision has already been made, so it is to be resumed at once.
 * @throws AppendTooLarge
 */
export const pauseRun =
  ({ transact }: { transact: Transact }) =>
  async ({ sessionId, steps, owner, ...pause }: PauseRun, call: Call) => {
    const stream = sessionStream(call.organizationId, sessionId)
    const { runId } = pause.paused
    for (const piece of inPieces(steps)) {
      const record = decideRecord(runId, piece, owner)
      await transact(stream, (state) => (state.paused ? [] : record(state)), call)
    }
    const result = await transact(stream, decidePause(pause, owner), call)
    return {
      paused: result.events.length > 0,
      goesOn: canGoOn(result.state),
      position: result.position,
    }
  }
export type PauseRunCommand = ReturnType<typeof pauseRun>
