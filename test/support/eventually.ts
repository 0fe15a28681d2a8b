import { setTimeout as after } from 'node:timers/promises'

const withinMs = 90_000

/**
 * What a look finds, once it finds something; a minute and a half at most. Looks become rarer, so that
 * they do not use up what a key may ask in a minute.
 */
export const eventually = async <T>(look: () => Promise<T>): Promise<NonNullable<T>> => {
  for (let [end, pause] = [Date.now() + withinMs, 10]; Date.now() < end; pause *= 1.3) {
    const found = await look()
    if (found) return found
    await after(Math.min(pause, 500))
  }
  throw new Error(`nothing was found within ${withinMs} ms`)
}
