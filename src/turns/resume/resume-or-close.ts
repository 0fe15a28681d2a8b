import type { RunView } from '../../../projections/runs.ts'
import type { Log } from '../../ports/log.ts'
import type { Turns } from '../run/turns.ts'
import type { CloseRun, RunNames } from './close-run.ts'
import { NotResumable } from './take-run.ts'

type Uses = {
  resume: Turns['resume']
  closeRun: CloseRun
  namesOf: RunNames
  log: Log
}

/**
 * Goes on with a run that no process runs, here; one that cannot go on is closed as interrupted. Resolves once
 * it goes on, or waits for its place among the runs of its payer. `besideSuspects`: other suspects are in flight
 * here. @throws StoreUnavailable
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
