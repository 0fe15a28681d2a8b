import { setImmediate as turn } from 'node:timers/promises'

/** How long other work may have to wait, in milliseconds. */
const sliceMs = 8

/** A pause that is only taken when the last one was a while ago: for long work in small steps. */
export const slices = () => {
  let since = performance.now()
  return async (): Promise<void> => {
    if (performance.now() - since < sliceMs) return
    await turn()
    since = performance.now()
  }
}
