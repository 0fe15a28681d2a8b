import { setImmediate as turn } from 'node:timers/promises'

/** The longest time between two pauses, in milliseconds. */
const sliceMs = 8

/** Pauses if the last pause was a while ago: for long work in small steps. */
export const slices = () => {
  let since = performance.now()
  return async (): Promise<void> => {
    if (performance.now() - since < sliceMs) return
    await turn()
    since = performance.now()
  }
}
