import { type RecordedEvent, START } from '../../ports/event-store.ts'
import { type NewRecord, recordEvents } from './record.ts'

/** So many records are kept at most: more would only be carried along by the garbage collector. */
const slots = 512

/**
 * The most recent records with their events, so that readers close to the end read nothing from
 * disk and parse nothing. In a ring: a record that is dropped is held by nothing.
 */
export const recentTail = (maxBytes: number) => {
  const ring = new Array<NewRecord | undefined>(slots).fill(undefined)
  /** The oldest record that is kept, and the one to come, counted from the first of all. */
  let oldest = 0
  let next = 0
  let bytes = 0

  const at = (n: number): NewRecord | undefined => ring[n % slots]

  const dropOldest = (): void => {
    bytes -= at(oldest)?.bytes.length ?? 0
    ring[oldest % slots] = undefined
    oldest++
  }

  const firstAfter = (position: number): number => {
    let low = oldest
    let high = next
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if ((at(middle)?.last ?? Infinity) > position) high = middle
      else low = middle + 1
    }
    return low
  }

  return {
    push(record: NewRecord): void {
      if (next - oldest === slots) dropOldest()
      ring[next % slots] = record
      next++
      bytes += record.bytes.length
      while (bytes > maxBytes) dropOldest()
    },
    /** Drops the records up to a position, which nobody reads any more. */
    passed(position: number): void {
      while (oldest < next && (at(oldest)?.last ?? START) <= position) dropOldest()
    },
    /** About `count` events after a position; undefined when they begin before these records. */
    after(position: number, count: number): RecordedEvent[] | undefined {
      const first = at(oldest)
      if (!first || first.before > position) return undefined
      const events: RecordedEvent[] = []
      for (let n = firstAfter(position); n < next && events.length < count; n++) {
        const record = at(n)
        if (!record) break
        for (const event of recordEvents(record)) if (event.position > position) events.push(event)
      }
      return events
    },
  }
}
