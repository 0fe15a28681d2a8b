import type { RecordedEvent } from '../../ports/event-store.ts'
import { type NewRecord, recordEvents } from './record.ts'

/** Readers at the end of the log are given the events of so many records without a parse. */
const keptEvents = 512

/**
 * The most recent records, so that readers close to the end read nothing from disk. All
 * but the last are kept as bytes: many long-lived objects would cost the garbage collector time.
 */
export const recentTail = (maxBytes: number) => {
  let kept: NewRecord[] = []
  let dropped = 0
  let bytes = 0

  const indexAfter = (position: number): number => {
    let low = dropped
    let high = kept.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((kept[middle]?.last ?? Infinity) > position) high = middle
      else low = middle + 1
    }
    return low
  }

  return {
    push(record: NewRecord): void {
      kept.push(record)
      const older = kept[kept.length - 1 - keptEvents]
      if (older) older.events = undefined
      bytes += record.bytes.length
      while (bytes > maxBytes && dropped < kept.length) {
        bytes -= kept[dropped]?.bytes.length ?? 0
        dropped++
      }
      if (dropped > kept.length / 2) {
        kept = kept.slice(dropped)
        dropped = 0
      }
    },
    /** About `count` events after a position; undefined when they begin before these records. */
    after(position: number, count: number): RecordedEvent[] | undefined {
      const oldest = kept[dropped]
      if (!oldest || oldest.before > position) return undefined
      const events: RecordedEvent[] = []
      for (let n = indexAfter(position); n < kept.length && events.length < count; n++) {
        const record = kept[n]
        if (!record) break
        for (const event of recordEvents(record)) if (event.position > position) events.push(event)
      }
      return events
    },
  }
}
