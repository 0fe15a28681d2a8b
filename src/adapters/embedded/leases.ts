import type { Leases } from '../../ports/leases.ts'
import { leaseTime, type Moment, processClock } from '../../support/lease-time.ts'

type Held = { holder: string; ttlMs: number; renewed: Moment }

/** Leases among the parts of this process, the only one that has the store open. */
export const embeddedLeases = (clock = processClock): Leases => {
  const { moment, since } = leaseTime(clock)
  const held = new Map<string, Held>()
  const current = (name: string) => {
    const lease = held.get(name)
    return lease && since(lease.renewed) < lease.ttlMs ? lease.holder : undefined
  }
  return {
    async acquire(name, holder, ttlMs) {
      if ((current(name) ?? holder) !== holder) return false
      held.set(name, { holder, ttlMs, renewed: moment() })
      return true
    },
    async release(name, holder) {
      if (held.get(name)?.holder === holder) held.delete(name)
    },
    holder: async (name) => current(name),
  }
}
