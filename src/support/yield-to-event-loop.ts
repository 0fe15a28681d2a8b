import { setImmediate } from 'node:timers/promises'

let last: Promise<unknown> = Promise.resolve()

/**
 * Resolves in a turn of the event loop that no other caller gets. Others' requests are answered
 * between the turns of two callers.
 */
export const yieldToEventLoop = async (): Promise<void> => {
  last = last.then(() => setImmediate())
  await last
}
