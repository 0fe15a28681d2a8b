import type { RecordedEvent } from '../../ports/event-store.ts'
import { type NewRecord, recordEvents } from './record.ts'

/** So many records are kept at most: more would only be carried along by the garbage collector. */
const mostRecords = 512

/**
 * The most recent records with their events, so that readers close to the end read nothing from
 * disk and parse nothing.
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
      bytes += record.bytes.length
      while (dropped < kept.length && (bytes > maxBytes || kept.length - dropped > mostRecords)) {
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
