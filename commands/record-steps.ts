import type { SessionEvent } from '../src/domain/session/events.ts'
import { decideRecord, sessionStream } from '../src/domain/session/session.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

export type RecordSteps = { sessionId: string; runId: string; steps: readonly SessionEvent[] }

/** Stores what agents and tools did so far in a run; nothing once the run has ended. */
export const recordSteps =
  (transact: Transact) =>
  async ({ sessionId, runId, steps }: RecordSteps, call: Call) => {
    const stream = sessionStream(call.organizationId, sessionId)
    const { position } = await transact(stream, decideRecord(runId, steps), call)
    return { position }
  }
export type RecordStepsCommand = ReturnType<typeof recordSteps>
