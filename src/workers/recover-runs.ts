import type { EndRunCommand } from '../../commands/end-run.ts'
import type { SettleReservationCommand } from '../../commands/settle-reservation.ts'
import type { AccountView } from '../../projections/accounts.ts'
import type { ContentView } from '../../projections/contents.ts'
import type { RunView } from '../../projections/runs.ts'
import { findAll } from '../../queries/find-all.ts'
import { runTimeOutMs } from '../domain/run-limits.ts'
import type { SessionEvent } from '../domain/session/events.ts'
import { systemCall } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'
import type { Leases } from '../ports/leases.ts'
import type { Log } from '../ports/log.ts'
import type { View } from '../ports/views.ts'
import { sinceStored } from '../support/stopwatch.ts'
import type { RunNames } from '../turns/resume/close-run.ts'
import type { OrphanRuns } from '../turns/resume/orphan-runs.ts'
import type { RecordedCost } from '../turns/resume/recorded-cost.ts'
import { nodeLease } from './node-lease.ts'
import { releaseReservations } from './release-reservations.ts'
import { skipUnreadable } from './skip-unreadable.ts'

type Uses = {
  runs: View<RunView>
  contents: View<ContentView>
  accounts: View<AccountView>
  leases: Leases
  clock: Clock
  node: string
  /** Whether a run is running or waiting in this process. */
  isLive(runId: string): boolean
  /** Milliseconds that a run has taken in this process; undefined: it does not run here. */
  elapsedHere(runId: string): number | undefined
  /** Cancels a run of this process. */
  stop(runId: string): void
  /** Resumes runs of dead processes, or closes them. */
  orphanRuns: Pick<OrphanRuns, 'resume'>
  endRun: EndRunCommand
  costOf: RecordedCost
  settleReservation: SettleReservationCommand
  namesOf: RunNames
  log: Log
}

/**
 * Resumes runs of dead processes, queues their queued runs again, and ends those that cannot be
 * resumed (`interrupted`) and runs that took longer than 30 minutes. Releases credits reserved for
 * runs that have ended or never began.
 */
export const recoverRuns = (uses: Uses) => {
  const { runs, leases, clock, node, isLive, elapsedHere, stop, endRun, costOf, orphanRuns, log } =
    uses
  const reservedCredits = releaseReservations(uses)

  const isOrphan = async ({ run_id, node: owner }: RunView, certain: boolean): Promise<boolean> =>
    owner === node
      ? !isLive(run_id)
      : certain || (await leases.holder(nodeLease(owner))) === undefined

  const close = async (run: RunView, end: SessionEvent<'RunTimedOut'>) => {
    const { run_id: runId, session_id: sessionId, payer_id: payerId } = run
    const call = systemCall(runId, clock.now(), run.organization_id)
    const outcome = await endRun({ sessionId, payerId, steps: [], end }, call)
    if (outcome.ended) log.warn({ ...(await uses.namesOf(run)), end: end.type }, 'a run was ended')
  }

  const timedOut = async (run: RunView) => {
    const { run_id: runId } = run
    await close(run, { type: 'RunTimedOut', data: { runId, ...(await costOf(run)) } })
    stop(runId)
  }

  /** Each process times its own runs. Runs without a process are timed by their events. */
  const openRuns = async (certain: boolean) => {
    const left: RunView[] = []
    const look = async (run: RunView): Promise<void> => {
      const elapsed = elapsedHere(run.run_id)
      if (elapsed !== undefined) {
        if (elapsed >= runTimeOutMs) await timedOut(run)
      } else if (await isOrphan(run, certain)) {
        const since = run.waited_until ?? run.started_at
        const late = run.status !== 'queued' && sinceStored(clock, since) >= runTimeOutMs
        if (late) await timedOut(run)
        else left.push(run)
      }
    }
    const passing = ({ run_id }: RunView, work: () => Promise<void>) =>
      skipUnreadable(log, { run_id }, work)
    for (const run of await findAll(runs, { index: 'open', equals: [true] }))
      await passing(run, () => look(run))
    await orphanRuns.resume(left, passing)
  }

  /** `certain`: no other process is running, as at the start of a single server. */
  return async ({ certain }: { certain: boolean }): Promise<void> => {
    await openRuns(certain)
    await reservedCredits({ certain })
  }
}
