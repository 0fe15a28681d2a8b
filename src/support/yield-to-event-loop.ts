import { setImmediate } from 'node:timers/promises'

let last: Promise<unknown> = Promise.resolve()

/**
 * Resolves in a turn of the event loop that no other caller gets. What each does until it waits again
 * takes its time alone: others' requests are answered between.
 */
export const yieldToEventLoop = async (): Promise<void> => {
  last = last.then(() => setImmediate())
  await last
}
