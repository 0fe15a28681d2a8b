import type { SettleReservationCommand } from '../../commands/settle-reservation.ts'
import { type AccountView, reservationsIn } from '../../projections/accounts.ts'
import type { ContentView } from '../../projections/contents.ts'
import type { RunView } from '../../projections/runs.ts'
import { openRuns } from '../domain/account/reservations.ts'
import { reservationOf, reservedContentOf } from '../domain/content/reservation.ts'
import { systemCall } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { View } from '../ports/views.ts'
import { skipUnreadable } from './skip-unreadable.ts'

/** Reservations checked in one pass: paused runs keep theirs for weeks. */
export const mostLookedAt = 500
const accountsAtOnce = 100

type Uses = {
  runs: Pick<View<RunView>, 'get'>
  contents: Pick<View<ContentView>, 'get'>
  accounts: Pick<View<AccountView>, 'find'>
  /** Whether a run is running or waiting in this process. */
  isLive(runId: string): boolean
  settleReservation: SettleReservationCommand
  clock: Clock
  log: Pick<Log, 'warn'>
}

/** The organization, where the run or the item is known. */
type Settled = { charge: number; organizationId: string | undefined }

/**
 * Where a round over all accounts continues: the number of finished accounts, and of finished
 * reservations of the next account.
 */
const start = { accounts: 0, reservations: 0 }

/**
 * Releases credits reserved for runs that have ended or never began. Each pass checks the next
 * reservations. A reservation is released only after two rounds, since a starting run reserves
 * before its view shows it.
 */
export const releaseReservations = (uses: Uses) => {
  const { runs, contents, accounts, isLive, settleReservation, clock, log } = uses
  let place = start
  /** Reservations to release, found by the last round and so far by this one. */
  let suspects = new Set<string>()
  let candidates = new Set<string>()

  /**
   * The charge of a reservation that nothing else will settle, and whose history tells so;
   * undefined when something may.
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

  const look = async (userId: string, runId: string, certain: boolean): Promise<void> => {
    const settled = await chargeOf(runId)
    if (!settled) return
    candidates.add(runId)
    if (!certain && !suspects.has(runId)) return
    const { charge, organizationId } = settled
    const call = systemCall(runId, clock.now(), organizationId)
    await settleReservation({ userId, runId, charge }, call)
  }

  const endRound = () => {
    place = start
    suspects = candidates
    candidates = new Set()
  }

  /** `certain`: no other process is running, so that finding it once is enough. */
  return async ({ certain }: { certain: boolean }): Promise<void> => {
    for (let left = mostLookedAt; left > 0; ) {
      const holding = { index: 'holding', equals: [true] }
      const { items } = await accounts.find({
        ...holding,
        skip: place.accounts,
        limit: accountsAtOnce,
      })
      for (const account of items) {
        const rest = openRuns(reservationsIn(account)).slice(place.reservations)
        const next = rest.slice(0, left)
        for (const runId of next)
          await skipUnreadable(log, { run_id: runId }, () => look(account.user_id, runId, certain))
        left -= next.length
        if (next.length < rest.length) {
          place = { ...place, reservations: place.reservations + next.length }
          return
        }
        place = { accounts: place.accounts + 1, reservations: 0 }
      }
      if (items.length < accountsAtOnce) return endRound()
    }
  }
}
