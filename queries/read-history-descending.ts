import type { EventIndexView } from '../projections/event-index.ts'
import { earliest, ownerOf, type Position } from '../src/domain/event.ts'
import {
  type EventStore,
  type RecordedEvent,
  START,
  StoreUnavailable,
} from '../src/ports/event-store.ts'
import type { View } from '../src/ports/views.ts'
import { type HistoryQuery, inTime, type Looked, outOfTime } from './read-history.ts'

/** How many stretches are looked up at once. */
const page = 16

/** How many events are read at once: they are reversed in memory, and may have 1 MB each. */
const atOnce = 64

/** How many events at the end of the log are searched that are not indexed yet. */
const mostNotIndexed = 10_000

export type DescendingQuery = Pick<HistoryQuery, 'organizationId' | 'from' | 'to'> & {
  /** Exclusive; absent: after the last event. Need not be the position of an event. */
  before?: Position | undefined
}

type Uses = {
  store: Pick<EventStore, 'at' | 'history' | 'head'>
  eventIndex: Pick<View<EventIndexView>, 'find'>
  /** Up to where the event index is folded. */
  indexed(): Position
}

/** Positions to read, or a passed-over stretch that begins at a position. */
type Part = { positions: readonly Position[] } | { passed: Position }

async function* only(positions: readonly Position[]) {
  yield positions
}

type IndexGap = { organizationId: string; reach: Position; head: Position }

/**
 * Positions of an organization's events that are not indexed yet, in the order of the log.
 * @throws StoreUnavailable
 */
const notIndexed = async (
  store: Uses['store'],
  { organizationId, reach, head }: IndexGap,
  isBefore: (position: Position) => boolean,
): Promise<Position[]> => {
  const positions: Position[] = []
  if (reach >= head || !isBefore(reach)) return positions
  let looked = 0
  for await (const batch of store.history(reach, head)) {
    const own = batch.filter((event) => ownerOf(event) === organizationId)
    positions.push(...own.map(({ position }) => position).filter(isBefore))
    looked += batch.length
    if (looked > mostNotIndexed)
      throw new StoreUnavailable('the event index does not show the end of the log yet')
    if (!isBefore(batch.at(-1)?.position ?? head)) break
  }
  return positions
}

/**
 * An organization's events, the newest first, in batches. `position` of a batch: all events from
 * there on were searched. The last batch says START. Reads the organization's own events and no
 * others, except those at the end of the log that are not indexed yet.
 * @throws StoreUnavailable while more of them than can be searched are not indexed
 */
export const readHistoryDescending = ({ store, eventIndex, indexed }: Uses) =>
  async function* (query: DescendingQuery): AsyncGenerator<Looked> {
    const { organizationId, before, from } = query
    const head = await store.head()
    const reach = earliest(indexed(), head)
    const wanted = inTime(query)
    const isBefore = (position: Position) => before === undefined || position < before

    async function* stretches(): AsyncGenerator<EventIndexView> {
      const of = { index: 'by_organization', equals: [organizationId], descending: true }
      let below: number = isBefore(reach) ? reach + 1 : (before ?? reach)
      for (;;) {
        // The total is not read.
        const { items } = await eventIndex.find({ ...of, below, limit: page, total: page })
        for (const stretch of items) {
          // While a stretch becomes full it may be there twice.
          if (stretch.first >= below) continue
          below = stretch.first
          yield stretch
        }
        if (items.length < page) return
      }
    }

    async function* parts(): AsyncGenerator<Part> {
      yield { positions: await notIndexed(store, { organizationId, reach, head }, isBefore) }
      for await (const stretch of stretches()) {
        // Nor is any earlier event from that time.
        if (from !== undefined && stretch.until < from) return
        if (outOfTime(query, stretch)) yield { passed: stretch.first }
        else {
          const positions = stretch.positions.filter((at) => at <= reach && isBefore(at))
          yield { positions }
        }
      }
    }

    const readAt = async (positions: readonly Position[]): Promise<RecordedEvent[]> => {
      const events: RecordedEvent[] = []
      for await (const batch of store.at(only(positions))) events.push(...batch)
      return events.reverse()
    }

    for await (const part of parts()) {
      if ('passed' in part) {
        yield { events: [], position: part.passed, looked: 1 }
        continue
      }
      for (let end = part.positions.length; end > 0; end -= atOnce) {
        const positions = part.positions.slice(Math.max(0, end - atOnce), end)
        const [position = START] = positions
        const events = (await readAt(positions)).filter(wanted)
        yield { events, position, looked: positions.length }
      }
    }
    yield { events: [], position: START, looked: 0 }
  }
export type ReadHistoryDescending = ReturnType<typeof readHistoryDescending>
