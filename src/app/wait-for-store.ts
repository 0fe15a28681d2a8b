import { setTimeout as pause } from 'node:timers/promises'
import { StoreUnavailable } from '../ports/event-store.ts'
import type { Log } from '../ports/log.ts'

export type StoreWait = {
  /** How long a store is waited for at the start. */
  forMs?: number
  everyMs?: number
}

/** The host and path of a connection string: never its user, password or options. */
export const addressOf = (url: string): string =>
  url.replace(/^([^:]+:\/\/)(?:[^@/]*@)?/, '$1').replace(/\?.*$/, '')

/**
 * Waits until a store answers: databases often start together with what needs them.
 * @throws StoreUnavailable when it does not answer in time
 */
export const waitForStore = async <Store>(
  name: string,
  log: Log,
  { forMs = 60_000, everyMs = 500 }: StoreWait,
  connect: () => Promise<Store>,
): Promise<Store> => {
  const end = performance.now() + forMs
  for (let attempt = 0; ; attempt++)
    try {
      return await connect()
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
      if (performance.now() + everyMs > end)
        throw new StoreUnavailable(`${name} did not answer within ${forMs / 1_000} s`)
      if (attempt === 0) log.warn({ reason: error.message }, `waiting for ${name}`)
      await pause(everyMs)
    }
}
