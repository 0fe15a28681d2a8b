import { fairQueue } from '../support/fair-queue.ts'
import type { LoadedPart } from './item.ts'

/** Runs `load` in its turn, once for all who wait for the part of this name. */
export type PartLoads = (
  organizationId: string,
  name: string,
  load: () => Promise<LoadedPart>,
) => Promise<LoadedPart>

/**
 * Parts are loaded one at a time, organizations in turn. A feed that waits for a part for which another
 * waits is given the same: it is loaded after both asked for it, so it is as new as each needs.
 */
export const partLoads = (): PartLoads => {
  const queue = fairQueue<() => Promise<void>>(1)
  const waiting = new Map<string, Promise<LoadedPart>>()

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
    const part = new Promise<LoadedPart>((resolve, reject) => {
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
