import { LRUCache } from 'lru-cache'
import type { Clock } from '../ports/clock.ts'
import { atMost } from './at-most.ts'

export type LeaseClock = Pick<Clock, 'now' | 'monotonic'>

export const processClock: LeaseClock = {
  now: () => new Date(),
  monotonic: () => performance.now(),
}

/** A moment of this process, by both of its clocks. */
export type Moment = { monotonic: number; wall: number }

/**
 * Time as leases count it: the larger difference of the two clocks. A monotonic clock stops while
 * the machine is suspended; wall time may be set back.
 */
export const leaseTime = ({ now, monotonic }: LeaseClock) => ({
  moment: (): Moment => ({ monotonic: monotonic(), wall: now().getTime() }),
  since: (then: Moment): number =>
    Math.max(monotonic() - then.monotonic, now().getTime() - then.wall),
})

/** A lease as a store has it; `until` differs after every renewal. */
export type StoredLease = { holder: string; until: number; ttlMs: number }

const most = 10_000

/**
 * Whether a lease of a shared store ran out by this process's time: it was not renewed for its
 * duration, even if the store's own clock was set back. By monotonic time alone: a step of this
 * node's wall clock must take no lease from a holder that renews it.
 */
export const unrenewedLeases = ({ monotonic }: Pick<LeaseClock, 'monotonic'>) => {
  const seen = new LRUCache<string, StoredLease & { at: number }>(atMost(most))
  return (name: string, lease: StoredLease): boolean => {
    const before = seen.get(name)
    if (before?.holder === lease.holder && before.until === lease.until)
      return monotonic() - before.at >= lease.ttlMs
    seen.set(name, { ...lease, at: monotonic() })
    return false
  }
}
