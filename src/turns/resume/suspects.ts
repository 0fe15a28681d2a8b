import type { RecordStepsCommand } from '../../../commands/record-steps.ts'
import type { SessionEvent } from '../../domain/session/events.ts'
import { isProgress } from '../../domain/session/runs.ts'

/** Runs whose last processes died, while they are resumed here; each function settles one. */
export const suspectRuns = () => {
  const inFlight = new Map<string, () => void>()
  return {
    add(runId: string, settle: () => void): void {
      inFlight.set(runId, settle)
    },
    remove(runId: string): void {
      inFlight.delete(runId)
    },
    has: (runId: string): boolean => inFlight.has(runId),
    get count(): number {
      return inFlight.size
    },
    /** Steps of a run were stored here. */
    recorded(runId: string, steps: readonly SessionEvent[]): void {
      if (inFlight.size > 0 && steps.some(isProgress)) inFlight.get(runId)?.()
    },
  }
}
export type SuspectRuns = ReturnType<typeof suspectRuns>

/** Stores steps of runs; a suspect that makes progress is settled. */
export const recordWatched =
  (recordSteps: RecordStepsCommand, suspects: Pick<SuspectRuns, 'recorded'>): RecordStepsCommand =>
  async (recording, call) => {
    const done = await recordSteps(recording, call)
    if (done.stored) suspects.recorded(recording.runId, recording.steps)
    return done
  }
