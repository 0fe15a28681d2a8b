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
 * Stores that a run waits for somebody; `paused` is false where it has ended meanwhile. Its credits stay
 * reserved. `goesOn`: something was decided meanwhile, and it is to be resumed at once.
 * @throws AppendTooLarge
 */
export const pauseRun =
  (transact: Transact) =>
  async ({ sessionId, steps, owner, ...pause }: PauseRun, call: Call) => {
    const stream = sessionStream(call.organizationId, sessionId)
    const { runId } = pause.paused
    for (const piece of inPieces(steps)) {
      const record = decideRecord(runId, piece, owner)
      await transact(stream, (state) => (state.paused ? [] : record(state)), call)
    }
    const asked = await transact(stream, decidePause(pause, owner), call)
    return {
      paused: asked.events.length > 0,
      goesOn: canGoOn(asked.state),
      position: asked.position,
    }
  }
export type PauseRunCommand = ReturnType<typeof pauseRun>
