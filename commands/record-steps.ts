import type { Position } from '../src/domain/event.ts'
import type { SessionEvent } from '../src/domain/session/events.ts'
import type { RunOwner } from '../src/domain/session/running.ts'
import { decideRecord } from '../src/domain/session/runs.ts'
import { sessionStream } from '../src/domain/session/session.ts'
import { inPieces } from '../src/event-sourcing/in-pieces.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import { START } from '../src/ports/event-store.ts'

export type RecordSteps = {
  sessionId: string
  runId: string
  steps: readonly SessionEvent[]
  /** Only as long as the run is this one's. */
  owner?: RunOwner
}

/**
 * Stores the steps of agents and tools in a run, in as many appends as necessary. `stored` is
 * false, and nothing is stored, once the run has ended or another process runs it.
 * @throws AppendTooLarge for a step beyond one append
 */
export const recordSteps =
  ({ transact }: { transact: Transact }) =>
  async ({ sessionId, runId, steps, owner }: RecordSteps, call: Call) => {
    const stream = sessionStream(call.organizationId, sessionId)
    let position: Position = START
    for (const piece of inPieces(steps)) {
      const done = await transact(stream, decideRecord(runId, piece, owner), call)
      if (done.events.length === 0) return { stored: false, position }
      position = done.position
    }
    return { stored: true, position }
  }
export type RecordStepsCommand = ReturnType<typeof recordSteps>
