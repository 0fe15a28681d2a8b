/**
 * Streams on which one host tells of changes, opened at once. Its other requests share its
 * connections, so there are few.
 */
const mostOfHost = 16

export const listeningSlots = () => {
  const taken = new Map<string, number>()
  return {
    /** Frees the slot when it is called, once; undefined if the host has no slot left. */
    take(host: string): (() => void) | undefined {
      const before = taken.get(host) ?? 0
      if (before >= mostOfHost) return undefined
      taken.set(host, before + 1)
      let held = true
      return () => {
        if (!held) return
        held = false
        const left = (taken.get(host) ?? 1) - 1
        if (left === 0) taken.delete(host)
        else taken.set(host, left)
      }
    },
  }
}
export type ListeningSlots = ReturnType<typeof listeningSlots>
