import type { EventIndexView } from '../projections/event-index.ts'
import { earliest, latest, ownerOf, type Position, timeOf } from '../src/domain/event.ts'
import type { EventStore, RecordedEvent } from '../src/ports/event-store.ts'
import type { View } from '../src/ports/views.ts'

/** How many stretches are looked up at once. */
const page = 16

export type HistoryQuery = {
  organizationId: string
  /** Exclusive; START (-1) for the beginning. Need not be the position of an event. */
  after: Position
  /** Inclusive; the head at the time of the call unless that comes first. */
  upTo?: Position | undefined
  /** Milliseconds since 1970: from <= at < to. */
  from?: number | undefined
  to?: number | undefined
}

/**
 * Events of the organization, having looked at all up to `position`; `looked` is what that cost.
 */
export type Looked = { events: readonly RecordedEvent[]; position: Position; looked: number }

type Uses = {
  store: Pick<EventStore, 'at' | 'history' | 'head'>
  eventIndex: View<EventIndexView>
  /** Up to where the event index is folded. */
  indexed(): Position
}

/** The stretches that hold anything after one position and up to another. */
async function* stretches(
  eventIndex: View<EventIndexView>,
  organizationId: string,
  { after, upTo }: { after: Position; upTo: Position },
): AsyncGenerator<EventIndexView> {
  const query = { index: 'by_organization', equals: [organizationId] }
  const before = await eventIndex.find({ ...query, below: after, descending: true, limit: 1 })
  let last: Position | undefined
  for (let from = before.items[0]?.first ?? after; from <= upTo; from = last) {
    const { items } = await eventIndex.find({ ...query, from, limit: page })
    const passed: Position | undefined = last
    for (const stretch of items) {
      // While a stretch becomes full it may be there twice.
      if (last !== undefined && stretch.first <= last) continue
      last = stretch.first
      yield stretch
    }
    if (last === undefined || last === passed) return
  }
}

type TimeRange = Pick<HistoryQuery, 'from' | 'to'>

export const inTime =
  ({ from, to }: TimeRange) =>
  (event: RecordedEvent): boolean => {
    if (from === undefined && to === undefined) return true
    const at = timeOf(event)
    return at !== undefined && at >= (from ?? at) && (to === undefined || at < to)
  }

export const outOfTime = ({ from, to }: TimeRange, { since, until }: EventIndexView): boolean =>
  (from !== undefined && until < from) || (to !== undefined && since >= to)

/**
 * An organization's events in the order of the log, in batches, the last of which says how far it
 * went. Reads the organization's own events and no others; only what is not indexed yet is searched
 * for in the whole log. Pulled: it holds one batch.
 */
export const readHistory = ({ store, eventIndex, indexed }: Uses) =>
  async function* (query: HistoryQuery): AsyncGenerator<Looked> {
    const { organizationId, after } = query
    const end = await store.head()
    const head = query.upTo === undefined ? end : earliest(query.upTo, end)
    // What is indexed meanwhile is found in the log: it would come twice.
    const reach = earliest(indexed(), head)
    const wanted = inTime(query)

    async function* positions(): AsyncGenerator<readonly Position[]> {
      for await (const stretch of stretches(eventIndex, organizationId, { after, upTo: reach })) {
        if (outOfTime(query, stretch)) continue
        const some = stretch.positions.filter((position) => position > after && position <= reach)
        if (some.length > 0) yield some
      }
    }

    for await (const events of store.at(positions())) {
      const position = events.at(-1)?.position ?? after
      yield { events: events.filter(wanted), position, looked: events.length }
    }
    let reached = latest(reach, after)
    if (reach < head)
      for await (const batch of store.history(reach, head)) {
        const own = batch.filter(
          (event) => ownerOf(event) === organizationId && event.position > after,
        )
        reached = latest(reached, batch.at(-1)?.position ?? reached)
        yield { events: own.filter(wanted), position: reached, looked: batch.length }
      }
    yield { events: [], position: latest(after, head), looked: 0 }
  }
export type ReadHistory = ReturnType<typeof readHistory>
