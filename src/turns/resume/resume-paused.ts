import type { RunView } from '../../../projections/runs.ts'
import type { Log } from '../../ports/log.ts'
import type { RunNames } from './close-run.ts'
import type { ResumeOrClose } from './resume-or-close.ts'

type Uses = {
  findRun(runId: string): Promise<RunView | undefined>
  resumeOrClose: ResumeOrClose
  namesOf: RunNames
  log: Pick<Log, 'error'>
}

/**
 * Resumes a paused run, once the views show the decision. A run that cannot be resumed now is
 * resumed with the next tick of housekeeping.
 */
export const resumePaused =
  ({ findRun, resumeOrClose, namesOf, log }: Uses) =>
  async (runId: string): Promise<void> => {
    let names: object = { run_id: runId }
    try {
      const run = await findRun(runId)
      if (run?.status !== 'awaiting_approval' && run?.status !== 'in_doubt') return
      names = await namesOf(run)
      await resumeOrClose(run)
    } catch (err) {
      log.error({ err, ...names }, 'a run could not go on')
    }
  }
