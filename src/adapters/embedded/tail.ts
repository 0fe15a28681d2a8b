import type { RecordedEvent } from '../../ports/event-store.ts'
import { eventsOf } from './record.ts'

/** The text of a record, the position of its last event, and of the last event before it. */
export type TailRecord = { text: string; before: number; last: number }

/**
 * The most recent records, so that readers close to the end read nothing from disk. They are kept
 * as text: many long-lived objects would cost the garbage collector time.
 */
export const recentTail = (maxChars: number) => {
  let kept: TailRecord[] = []
  let dropped = 0
  let chars = 0

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
    push(record: TailRecord): void {
      kept.push(record)
      chars += record.text.length
      while (chars > maxChars && dropped < kept.length) {
        chars -= kept[dropped]?.text.length ?? 0
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
        for (const event of eventsOf(record.text, record.last))
          if (event.position > position) events.push(event)
      }
      return events
    },
  }
}
