import { type EventIndexView, partSize, stretchSize } from '../projections/event-index.ts'
import type { EventStore, RecordedEvent } from '../src/ports/event-store.ts'
import type { View } from '../src/ports/views.ts'

/** Parts that are this near to each other are read in one go, with what lies between them. */
const nearParts = 16
/** How many stretches are looked up at once. */
const page = 64

export type AskedHistory = {
  organizationId: string
  /** Exclusive; START (-1) for the beginning. */
  after: number
  /** Inclusive; the head at the time of the call unless that comes first. */
  upTo?: number | undefined
  /** Milliseconds since 1970: from <= at < to. */
  from?: number | undefined
  to?: number | undefined
}

/** Events of the organization, having looked at all up to `position`; `looked` is what that cost. */
export type Looked = { events: readonly RecordedEvent[]; position: number; looked: number }

type Uses = {
  store: Pick<EventStore, 'history' | 'head'>
  eventIndex: View<EventIndexView>
  /** Up to where it is folded. */
  indexed(): number
}

type Range = { first: number; last: number }

const rangesOf = ({ stretch, parts }: EventIndexView): Range[] => {
  const ranges: { from: number; to: number }[] = []
  for (const part of parts) {
    const before = ranges.at(-1)
    if (before && part - before.to <= nearParts) before.to = part
    else ranges.push({ from: part, to: part })
  }
  return ranges.map(({ from, to }) => ({
    first: stretch * stretchSize + from * partSize,
    last: stretch * stretchSize + (to + 1) * partSize - 1,
  }))
}

/**
 * An organization's events in the order of the log, in batches, the last of which says how far it
 * went. What is read besides is bounded by what the organization has itself; only what is not
 * indexed yet is looked for in everybody's. Pulled: it holds one batch.
 */
export const readHistory = ({ store, eventIndex, indexed }: Uses) =>
  async function* (asked: AskedHistory): AsyncGenerator<Looked> {
    const { organizationId, after, from, to } = asked
    const head = Math.min(asked.upTo ?? Number.POSITIVE_INFINITY, await store.head())
    const reach = Math.min(head, indexed())

    const own = ({ metadata }: RecordedEvent): boolean => {
      if (metadata.organization_id !== organizationId) return false
      if (from === undefined && to === undefined) return true
      const at = Date.parse(metadata.at)
      return at >= (from ?? at) && (to === undefined || at < to)
    }

    async function* within(first: number, last: number): AsyncGenerator<Looked> {
      const start = Math.max(first - 1, after)
      if (start >= last) return
      for await (const batch of store.history(start, last)) {
        const position = batch.at(-1)?.position ?? start
        yield { events: batch.filter(own), position, looked: batch.length }
      }
    }

    let next = Math.floor((after + 1) / stretchSize)
    while (next * stretchSize <= reach) {
      const { items } = await eventIndex.find({
        index: 'by_organization',
        equals: [organizationId],
        from: next,
        limit: page,
      })
      const last = items.at(-1)
      if (!last) break
      for (const item of items) {
        if (item.until < (from ?? item.until) || item.since >= (to ?? Infinity)) continue
        for (const { first, last } of rangesOf(item)) yield* within(first, Math.min(last, reach))
      }
      next = last.stretch + 1
    }
    yield* within(reach + 1, head)
    yield { events: [], position: Math.max(after, head), looked: 0 }
  }
export type ReadHistory = ReturnType<typeof readHistory>
