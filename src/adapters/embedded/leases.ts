import type { Leases } from '../../ports/leases.ts'

/** Leases among the parts of this process, the only one that has the store open. */
export const embeddedLeases = (now: () => number = Date.now): Leases => {
  const held = new Map<string, { holder: string; until: number }>()
  const current = (name: string) => {
    const lease = held.get(name)
    return lease && lease.until > now() ? lease.holder : undefined
  }
  return {
    async acquire(name, holder, ttlMs) {
      if ((current(name) ?? holder) !== holder) return false
      held.set(name, { holder, until: now() + ttlMs })
      return true
    },
    async release(name, holder) {
      if (held.get(name)?.holder === holder) held.delete(name)
    },
    holder: async (name) => current(name),
  }
}
