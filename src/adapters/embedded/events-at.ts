import type { Position } from '../../domain/event.ts'
import { type EventStore, type RecordedEvent, StoreDamaged } from '../../ports/event-store.ts'
import { rangesOf } from '../position-ranges.ts'

/** Positions this near are read in one go; what lies between is dropped. */
const near = 64

type Pages = (after: Position, upTo: Position) => AsyncIterable<readonly RecordedEvent[]>

/** The events at positions, read from pages of the whole log. */
export const eventsAt = (pages: Pages): EventStore['at'] => {
  async function* ofRange(range: readonly Position[]) {
    const [first, last] = [range[0], range.at(-1)]
    if (first === undefined || last === undefined) return
    let found = 0
    const isNext = ({ position }: RecordedEvent) => {
      if (position !== range[found]) return false
      found++
      return true
    }
    for await (const page of pages((first - 1) as Position, last)) {
      const events = page.filter(isNext)
      if (events.length > 0) yield events
    }
    if (found < range.length) throw new StoreDamaged(`no event at position ${range[found]}`)
  }

  return async function* (positions) {
    for await (const wanted of positions)
      for (const range of rangesOf(wanted, near)) yield* ofRange(range)
  }
}
