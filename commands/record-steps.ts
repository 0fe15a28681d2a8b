import type { Position } from '../src/domain/event.ts'
import type { SessionEvent } from '../src/domain/session/events.ts'
import { decideRecord, sessionStream } from '../src/domain/session/session.ts'
import { inPieces } from '../src/event-sourcing/in-pieces.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import { START } from '../src/ports/event-store.ts'

export type RecordSteps = { sessionId: string; runId: string; steps: readonly SessionEvent[] }

/**
 * Stores what agents and tools did so far in a run, in as many appends as it takes; nothing once the
 * run has ended. @throws AppendTooLarge for a step that fits in no append
 */
export const recordSteps =
  (transact: Transact) =>
  async ({ sessionId, runId, steps }: RecordSteps, call: Call) => {
    const stream = sessionStream(call.organizationId, sessionId)
    let position: Position = START
    for (const piece of inPieces(steps))
      position = (await transact(stream, decideRecord(runId, piece), call)).position
    return { position }
  }
export type RecordStepsCommand = ReturnType<typeof recordSteps>
