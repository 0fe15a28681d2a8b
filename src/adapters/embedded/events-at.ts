import type { Position } from '../../domain/event.ts'
import { type EventStore, type RecordedEvent, StoreDamaged } from '../../ports/event-store.ts'
import { rangesOf } from '../position-ranges.ts'

/** Positions this near are read in one go; events between them are dropped. */
const near = 64

type Reads = {
  pages(after: Position, upTo: Position): AsyncIterable<readonly RecordedEvent[]>
  /** One event; undefined when there is none. */
  event(position: Position): RecordedEvent | undefined
}

/**
 * The events at positions, read from pages of the whole log. Where something between them is
 * damaged, which may be of others, they are read one by one.
 */
export const eventsAt = ({ pages, event }: Reads): EventStore['at'] => {
  const missing = (position: Position) =>
    new StoreDamaged(`no event at position ${position}`, { position })

  async function* ofRange(range: readonly Position[]) {
    const [first, last] = [range[0], range.at(-1)]
    if (first === undefined || last === undefined) return
    let count = 0
    const isNext = ({ position }: RecordedEvent) => {
      if (position !== range[count]) return false
      count++
      return true
    }
    try {
      for await (const page of pages((first - 1) as Position, last)) {
        const events = page.filter(isNext)
        if (events.length > 0) yield events
      }
    } catch (error) {
      if (!(error instanceof StoreDamaged)) throw error
      for (const position of range.slice(count)) {
        const record = event(position)
        if (!record) throw missing(position)
        yield [record]
      }
      return
    }
    const next = range[count]
    if (next !== undefined) throw missing(next)
  }

  return async function* (positions) {
    for await (const wanted of positions)
      for (const range of rangesOf(wanted, near)) yield* ofRange(range)
  }
}
