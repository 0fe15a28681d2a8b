import { fairTurns } from '../support/fair-queue.ts'

/** Runs `load` in its turn, once for all who wait for the part of this name. */
export type PartLoads<Part> = (
  organizationId: string,
  name: string,
  load: () => Promise<Part>,
) => Promise<Part>

/**
 * Loads one part at a time, organizations in turn. Feeds that wait for the same part share one. It
 * is loaded after each has asked for it, so it is as new as each needs.
 */
export const partLoads = <Part>(): PartLoads<Part> => {
  const inTurn = fairTurns(1)
  const waiting = new Map<string, Promise<Part>>()

  return (organizationId, name, load) => {
    const key = `${organizationId} ${name}`
    const known = waiting.get(key)
    if (known) return known
    let isWaiting = true
    const part = inTurn(organizationId, () => {
      isWaiting = false
      waiting.delete(key)
      return load()
    })
    if (isWaiting) waiting.set(key, part)
    return part
  }
}
