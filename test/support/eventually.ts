import { setTimeout as after } from 'node:timers/promises'

const withinMs = 90_000

/**
 * Polls until `look` returns a value, for a minute and a half at most. Polls become rarer, so that
 * they stay within a key's rate limit.
 */
export const eventually = async <T>(look: () => Promise<T>): Promise<NonNullable<T>> => {
  for (let [end, pause] = [Date.now() + withinMs, 10]; Date.now() < end; pause *= 1.3) {
    const value = await look()
    if (value) return value
    await after(Math.min(pause, 500))
  }
  throw new Error(`nothing was found within ${withinMs} ms`)
}
