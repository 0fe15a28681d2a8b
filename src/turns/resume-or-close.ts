import type { EndRunCommand } from '../../commands/end-run.ts'
import type { RunView } from '../../projections/runs.ts'
import { systemCall } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { AbandonRun } from './abandon-run.ts'
import type { RecordedCost } from './recorded-cost.ts'
import type { RunNames } from './run-names.ts'
import { NotResumable } from './take-run.ts'
import type { Turns } from './turns.ts'

type Uses = {
  resume: Turns['resume']
  endRun: EndRunCommand
  abandonRun: AbandonRun
  costOf: RecordedCost
  namesOf: RunNames
  clock: Clock
  log: Log
}

/**
 * Goes on with a run that no process runs, here; one that cannot go on is closed as interrupted. Resolves once
 * it goes on. @throws StoreUnavailable
 */
export const resumeOrClose =
  ({ resume, endRun, costOf, abandonRun, namesOf, clock, log }: Uses) =>
  async (run: RunView): Promise<void> => {
    const { run_id: runId, session_id: sessionId, payer_id: payerId, organization_id } = run
    try {
      await resume(run)
      log.info(await namesOf(run), 'a run goes on')
    } catch (error) {
      if (!(error instanceof NotResumable)) throw error
      const data = { runId, code: 'interrupted', cause: error.message, ...(await costOf(run)) }
      const end = { type: 'RunFailed', data } as const
      const call = systemCall(runId, clock.now(), organization_id)
      const { ended } = await endRun({ sessionId, payerId, steps: [], end }, call)
      if (!ended) return
      await abandonRun(run)
      const { cause } = data
      log.warn({ ...(await namesOf(run)), end: end.type, cause }, 'a run was ended')
    }
  }
export type ResumeOrClose = ReturnType<typeof resumeOrClose>
