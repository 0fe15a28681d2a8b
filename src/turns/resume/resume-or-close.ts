import type { RunView } from '../../../projections/runs.ts'
import type { Log } from '../../ports/log.ts'
import type { CloseRun, RunNames } from './close-run.ts'
import type { ResumeTurns } from './resume-turn.ts'
import { NotResumable } from './take-run.ts'

type Uses = {
  resume: ResumeTurns['resume']
  closeRun: CloseRun
  namesOf: RunNames
  log: Log
}

/**
 * Resumes a run that no process runs; a run that cannot be resumed is closed as interrupted.
 * Resolves once it runs, or waits for its place among the runs of its payer. `besideSuspects`:
 * other suspects are in flight here. @throws StoreUnavailable
 */
export const resumeOrClose =
  ({ resume, closeRun, namesOf, log }: Uses) =>
  async (run: RunView, besideSuspects?: () => boolean): Promise<void> => {
    try {
      await resume(run, besideSuspects)
      log.info(await namesOf(run), 'a run goes on')
    } catch (error) {
      if (!(error instanceof NotResumable)) throw error
      await closeRun(run, error)
    }
  }
export type ResumeOrClose = ReturnType<typeof resumeOrClose>
