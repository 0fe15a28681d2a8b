import {
  catchError,
  concatMap,
  defer,
  EMPTY,
  exhaustMap,
  filter,
  merge,
  NEVER,
  type Observable,
  of,
  repeat,
  switchMap,
  takeUntil,
  tap,
  timer,
} from 'rxjs'
import type { Leases } from '../ports/leases.ts'
import type { Log } from '../ports/log.ts'
import { type LeaseClock, leaseTime, type Moment, processClock } from '../support/lease-time.ts'

export type Lease = {
  leases: Leases
  /** What the right is called, and who holds it: a new name for each life of a process. */
  name: string
  holder: string
  /** With these, another node takes over within 9 s of a holder's death. */
  ttlMs?: number
  renewMs?: number
  retryMs?: number
  /** How long this process does not ask for the lease after it gave it up. */
  restMs?: number
  clock?: LeaseClock
}

/** How much of a lease's time is counted on: clocks drift, and a write begun must end within it. */
const counted = 0.75

/**
 * Runs some work whenever, and only as long as, this process holds a lease. `held` turns false
 * before anyone else can have the lease, also when the lease store is out of reach: ask it before
 * every write. Never completes; unsubscribing ends the work but leaves the lease to its owner, who
 * releases it once the last write is done. When `givesUp` emits, another node gets a chance: the
 * lease is released, and asked for again only after a rest.
 */
export const whileLeading = <T>(
  lease: Lease,
  { log, givesUp = NEVER }: { log: Log; givesUp?: Observable<unknown> },
  work: (leading: () => boolean) => Observable<T>,
): Observable<T> => {
  const { leases, name, holder, ttlMs = 8_000, renewMs = 3_000, retryMs = 1_000 } = lease
  const { restMs = 3 * retryMs } = lease
  let delayMs = retryMs
  const { moment, since } = leaseTime(lease.clock ?? processClock)
  /** When the lease was asked for that is held. */
  let held: Moment | undefined
  const leading = () => held !== undefined && since(held) < ttlMs * counted

  const acquired = defer(async () => {
    const requestedAt = moment()
    const ours = await leases.acquire(name, holder, ttlMs)
    held = ours ? requestedAt : undefined
    return leading()
  }).pipe(
    catchError((err) => {
      log.warn({ err, lease: name }, 'the lease store did not answer')
      return of(leading())
    }),
  )
  const lost = timer(renewMs, renewMs).pipe(
    exhaustMap(() => acquired),
    filter((ours) => !ours),
    tap(() => log.warn({ lease: name, holder }, 'lost a lease')),
  )
  const givenUp = givesUp.pipe(
    concatMap(async () => {
      held = undefined
      delayMs = restMs
      log.warn({ lease: name, holder }, 'gave a lease up: a later release may go on')
      await leases.release(name, holder).catch(() => undefined)
    }),
  )
  const ledWork = defer(() => {
    log.info({ lease: name, holder }, 'took a lease')
    delayMs = retryMs
    return work(leading).pipe(takeUntil(merge(lost, givenUp)))
  })
  return acquired.pipe(
    switchMap((ours) => (ours ? ledWork : EMPTY)),
    repeat({ delay: () => timer(delayMs) }),
  )
}
