import { malformed } from './failure.ts'
import type { StoredEvent } from './stored-event.ts'

type Search = {
  /** The number of events in the log. */
  size: number
  position: number
  /** An index to try first. */
  likely?: number | undefined
  read(index: number): Promise<StoredEvent>
}

/** Where the events of an interval are: from `lo` on, below `hi`. */
type Interval = { lo: number; hi: number; below: number; above: number }

/** The index of the position, if positions were evenly spaced. */
const estimate = ({ lo, hi, below, above }: Interval, position: number): number =>
  lo + Math.floor((hi - lo) * ((position - below) / (above - below)))

/**
 * The event at a position of the log, and its index in the history. Every other step halves the
 * interval, so it reads at most `2 * log2(size) + 4` events. Undefined: there is none.
 * @throws VerificationFailed when positions do not ascend
 */
export const findEvent = async ({
  size,
  position,
  likely,
  read,
}: Search): Promise<{ index: number; event: StoredEvent } | undefined> => {
  if (!Number.isSafeInteger(position) || position < 0) return undefined
  let interval: Interval = { lo: 0, hi: size, below: -1, above: Number.POSITIVE_INFINITY }
  const start = likely ?? size - 1
  for (let step = 0; interval.lo < interval.hi; step++) {
    const { lo, hi, below, above } = interval
    const guess = step % 2 === 0 ? estimate(interval, position) : Math.floor((lo + hi) / 2)
    const wanted = step === 0 ? start : Number.isFinite(above) ? guess : hi - 1
    const index = Math.min(Math.max(wanted, lo), hi - 1)
    const event = await read(index)
    if (event.position === position) return { index, event }
    if (event.position <= below || event.position >= above)
      throw malformed('event', 'the positions of events do not ascend')
    interval =
      event.position < position
        ? { ...interval, lo: index + 1, below: event.position }
        : { ...interval, hi: index, above: event.position }
  }
  return undefined
}
