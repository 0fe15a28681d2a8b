import type { EndRunCommand } from '../../../commands/end-run.ts'
import type { RunView } from '../../../projections/runs.ts'
import { sessionStream } from '../../domain/session/session.ts'
import type { FindRequestId } from '../../event-sourcing/find-request-id.ts'
import { systemCall } from '../../ports/call.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { AbandonRun } from './abandon-run.ts'
import type { RecordedCost } from './recorded-cost.ts'
import type { NotResumable } from './take-run.ts'

/** Names a run, and the request that began it, in log lines about its recovery. */
export const runNames =
  (findRequestId: FindRequestId) =>
  async ({ run_id, session_id, organization_id, revision = 0 }: RunView) => {
    const { name } = sessionStream(organization_id, session_id)
    const reqId = await findRequestId(name, { from: revision, field: 'runId', is: run_id })
    return { ...(reqId === undefined ? {} : { reqId }), run_id }
  }
export type RunNames = ReturnType<typeof runNames>

type Uses = {
  endRun: EndRunCommand
  costOf: RecordedCost
  abandonRun: AbandonRun
  namesOf: RunNames
  clock: Clock
  log: Log
}

/** Ends a run that cannot go on, as interrupted: its recorded answers are charged. */
export const closeRun =
  ({ endRun, costOf, abandonRun, namesOf, clock, log }: Uses) =>
  async (run: RunView, { message: cause }: NotResumable): Promise<void> => {
    const { run_id: runId, session_id: sessionId, payer_id: payerId, organization_id } = run
    const data = { runId, code: 'interrupted', cause, ...(await costOf(run)) }
    const end = { type: 'RunFailed', data } as const
    const call = systemCall(runId, clock.now(), organization_id)
    const result = await endRun({ sessionId, payerId, steps: [], end }, call)
    if (!result.ended) return
    await abandonRun(run)
    log.warn({ ...(await namesOf(run)), end: end.type, cause }, 'a run was ended')
  }
export type CloseRun = ReturnType<typeof closeRun>
