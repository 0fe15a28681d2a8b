import { setTimeout as pause, setImmediate } from 'node:timers/promises'

/** Subscribers that are woken in one turn of the event loop: each writes to its socket. */
const atOnce = 8
/** How long they are woken, turn after turn, before other work has the loop to itself. */
const sliceMs = 1
const restMs = 3

type Options = {
  turn?: () => Promise<unknown>
  rest?: (ms: number) => Promise<unknown>
  now?: () => number
}

/**
 * To be called after each subscriber that was woken: waking many is spread over time, so that a
 * request in between waits for a few of them and not for all. What it answers, if anything, is to be
 * waited for.
 */
export const inSlices = (options: Options = {}) => {
  const { turn = setImmediate, now = () => performance.now() } = options
  const { rest = pause } = options
  let woken = 0
  let began = now()

  const otherWork = async (): Promise<void> => {
    await turn()
    if (now() - began < sliceMs) return
    await rest(restMs)
    began = now()
  }
  return (): Promise<void> | undefined => (++woken % atOnce > 0 ? undefined : otherWork())
}
