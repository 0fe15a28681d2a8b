import type { Clock } from '../ports/clock.ts'

/** Tells whole milliseconds since its start, and those before; wall time does not matter. */
export const stopwatch = ({ monotonic }: Pick<Clock, 'monotonic'>, before = 0): (() => number) => {
  const began = monotonic()
  return () => Math.round(before + monotonic() - began)
}

/** Milliseconds from a stored time to now: wall time of two processes, so at least 0. */
export const sinceStored = ({ now }: Pick<Clock, 'now'>, at: string | Date): number =>
  Math.max(0, now().getTime() - new Date(at).getTime())
