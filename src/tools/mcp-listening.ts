/**
 * The most streams of changes that one host has open at once. Its other requests share its
 * connections, so there are few.
 */
const mostOfHost = 16

export const listeningSlots = () => {
  const counts = new Map<string, number>()
  return {
    /** Frees the slot when it is called, once; undefined if the host has no slot left. */
    take(host: string): (() => void) | undefined {
      const before = counts.get(host) ?? 0
      if (before >= mostOfHost) return undefined
      counts.set(host, before + 1)
      let held = true
      return () => {
        if (!held) return
        held = false
        const left = (counts.get(host) ?? 1) - 1
        if (left === 0) counts.delete(host)
        else counts.set(host, left)
      }
    },
  }
}
export type ListeningSlots = ReturnType<typeof listeningSlots>
