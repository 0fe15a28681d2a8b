import { setTimeout as pause, setImmediate } from 'node:timers/promises'

/** Subscribers that are written to in one turn of the event loop. */
const atOnce = 8
/** How long they are written to, turn after turn, before other work has the loop to itself. */
const sliceMs = 1
const restMs = 3

type Options = {
  turn?: () => Promise<unknown>
  rest?: (ms: number) => Promise<unknown>
  now?: () => number
}

/**
 * Awaited before each write to a subscriber. Spreads writes to many subscribers over time, so that
 * a request in between waits for a few of them, not for all. Callers continue in the order of their
 * calls.
 */
export const inSlices = (options: Options = {}) => {
  const { turn = setImmediate, now = () => performance.now() } = options
  const { rest = pause } = options
  const waiting: (() => void)[] = []
  let left = atOnce
  let passing = false
  let began = now()

  const otherWork = async (): Promise<void> => {
    await turn()
    if (now() - began < sliceMs) return
    await rest(restMs)
    began = now()
  }

  const pass = async (): Promise<void> => {
    passing = true
    while (waiting.length > 0) {
      await otherWork()
      const some = waiting.splice(0, atOnce)
      left = atOnce - some.length
      for (const go of some) go()
    }
    passing = false
  }

  return (): Promise<void> | undefined => {
    if (left > 0 && !passing) {
      left--
      return undefined
    }
    return new Promise((go) => {
      waiting.push(go)
      if (!passing) void pass()
    })
  }
}
