import type { EndRunCommand } from '../../commands/end-run.ts'
import type { SettleReservationCommand } from '../../commands/settle-reservation.ts'
import type { AccountView } from '../../projections/accounts.ts'
import type { ContentView } from '../../projections/contents.ts'
import type { RunView } from '../../projections/runs.ts'
import { findAll } from '../../queries/find-all.ts'
import { reservationOf, reservedContentOf } from '../domain/content/reservation.ts'
import type { SessionEvent } from '../domain/session/events.ts'
import { uncharged } from '../domain/session/running.ts'
import { systemCall } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'
import type { Leases } from '../ports/leases.ts'
import type { Log } from '../ports/log.ts'
import type { View } from '../ports/views.ts'
import type { ResumeOrClose } from '../turns/resume-or-close.ts'
import type { RunNames } from '../turns/run-names.ts'

/**
 * The lease that shows that a process is alive: while it holds the lease, no other ends its runs.
 */
export const nodeLease = (node: string): string => `node:${node}`

/** Session processing time-out (docs/contract/limits.md#times). */
const timeOutMs = 30 * 60_000

type Uses = {
  runs: View<RunView>
  contents: View<ContentView>
  accounts: View<AccountView>
  leases: Leases
  clock: Clock
  node: string
  /** Whether a run is running or waiting in this process. */
  isLive(runId: string): boolean
  /** Cancels a run of this process. */
  stop(runId: string): void
  /** Goes on with a run whose process is gone, or closes it. */
  resumeOrClose: ResumeOrClose
  endRun: EndRunCommand
  settleReservation: SettleReservationCommand
  namesOf: RunNames
  log: Log
}

/** The organization, where the run or the item is known. */
type Settled = { charge: number; organizationId: string | undefined }

/**
 * Goes on with runs whose process has died, ends those that cannot go on (`interrupted`) and runs that took longer than 30 minutes, and
 * releases credits reserved for runs that have ended or never began. A reservation is released only
 * when two passes find it: a run that is just beginning reserves before its view shows it.
 */
export const closeOrphans = (uses: Uses) => {
  const { runs, contents, accounts, leases, clock, node, isLive, stop, endRun, log } = uses
  const { settleReservation, resumeOrClose } = uses
  let suspects = new Set<string>()

  const callFor = (runId: string, organizationId?: string) =>
    systemCall(runId, clock.now(), organizationId)

  const isOrphan = async ({ run_id, node: owner }: RunView, certain: boolean): Promise<boolean> =>
    owner === node
      ? !isLive(run_id)
      : certain || (await leases.holder(nodeLease(owner))) === undefined

  const close = async (run: RunView, end: SessionEvent<'RunTimedOut'>) => {
    const { run_id: runId, session_id: sessionId, payer_id: payerId } = run
    const call = callFor(runId, run.organization_id)
    const { ended } = await endRun({ sessionId, payerId, steps: [], end }, call)
    if (ended) log.warn({ ...(await uses.namesOf(run)), end: end.type }, 'a run was ended')
  }

  const openRuns = async (certain: boolean) => {
    const late = new Date(clock.now().getTime() - timeOutMs).toISOString()
    for (const run of await findAll(runs, { index: 'open', equals: [true] })) {
      if ((run.waited_until ?? run.started_at) <= late) {
        await close(run, { type: 'RunTimedOut', data: { runId: run.run_id, ...uncharged } })
        stop(run.run_id)
      } else if (await isOrphan(run, certain)) await resumeOrClose(run)
    }
  }

  /**
   * The charge of a reservation that nothing else will settle, and whose history tells so; undefined
   * when something may.
   */
  const chargeOf = async (reservation: string): Promise<Settled | undefined> => {
    const contentId = reservedContentOf(reservation)
    if (contentId) {
      const item = await contents.get(contentId)
      if (item?.open) return undefined
      const present = item && reservationOf(contentId, item.retry_count) === reservation
      const charge = present && item.status === 'completed' ? item.reserved : 0
      return { charge, organizationId: item?.organization_id }
    }
    const run = await runs.get(reservation)
    if (isLive(reservation) || (run && run.ended_at === null)) return undefined
    return { charge: run?.charge ?? 0, organizationId: run?.organization_id }
  }

  const reservedCredits = async (certain: boolean) => {
    const found = new Set<string>()
    for (const { user_id, reservations } of await findAll(accounts, {
      index: 'holding',
      equals: [true],
    }))
      for (const runId of Object.keys(reservations)) {
        const settled = await chargeOf(runId)
        if (!settled) continue
        found.add(runId)
        if (!certain && !suspects.has(runId)) continue
        const { charge, organizationId } = settled
        const call = callFor(runId, organizationId)
        await settleReservation({ userId: user_id, runId, charge }, call)
      }
    suspects = found
  }

  /** `certain`: no other process is running, as at the start of a single server. */
  return async ({ certain }: { certain: boolean }): Promise<void> => {
    await openRuns(certain)
    await reservedCredits(certain)
  }
}
