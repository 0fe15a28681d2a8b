import { fairQueue } from '../support/fair-queue.ts'

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
  const queue = fairQueue<() => Promise<void>>(1)
  const waiting = new Map<string, Promise<Part>>()

  const pump = (): void => {
    const next = queue.next()
    if (!next) return
    void next.item().finally(() => {
      next.leave()
      pump()
    })
  }

  return (organizationId, name, load) => {
    const key = `${organizationId} ${name}`
    const known = waiting.get(key)
    if (known) return known
    const part = new Promise<Part>((resolve, reject) => {
      queue.add(organizationId, () => {
        waiting.delete(key)
        return load().then(resolve, reject)
      })
    })
    waiting.set(key, part)
    pump()
    return part
  }
}
