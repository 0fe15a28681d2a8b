import type { ReadModel } from '../../projections/projection.ts'
import { findReadModel } from '../../queries/find-read-model.ts'
import type { ReadHistory } from '../../queries/read-history.ts'
import type { Position } from '../domain/event.ts'
import type { EventStore } from '../ports/event-store.ts'
import type { Document } from '../ports/views.ts'
import type { PastState, TemporalQuery } from '../projector/temporal-query.ts'
import { inTurns } from '../support/in-turns.ts'
import {
  type BatchResult,
  type DocumentOpener,
  endOfFeed,
  type FeedBatch,
  type LoadedPart,
  loadPart,
  snapshotBatches,
  upsert,
} from './item.ts'
import { partLoads } from './part-loads.ts'
import { touched } from './touched.ts'

/** How long a snapshot is shared with others who ask for it. */
const sharedMs = 1_000
/** How long a snapshot that is still being read is reused, so that slow readers hold few. */
const readMs = 60_000
/** How many events' changes are grouped. */
const window = 2_000

/** A document as it is shown, its sealed texts opened. */
export type Opened = (model: ReadModel, document: Document) => Promise<Document>

type Uses = {
  read: EventStore['read']
  readHistory: ReadHistory
  stateAt: TemporalQuery
  opened: Opened
  /** A monotonic clock, in milliseconds. */
  now?: () => number
}

export type SnapshotRequest = {
  organizationId: string
  /** The read model's name. */
  model: string
  position: Position
  /** Changes after the snapshot follow, so an older one will do. */
  follows: boolean
}

export type HistoryRange = {
  organizationId: string
  model: string
  after: Position
  upTo: Position
}

/**
 * The documents that events up to `position` may have changed, each with the position of its last
 * change, in that order.
 */
export type Touched = { ids: ReadonlyMap<string, Position>; position: Position }

type Owned = readonly [id: string, document: Document]

type Snapshot = {
  position: Position
  own: Promise<readonly Owned[]>
  until: number
  createdAt: number
  readers: number
  forget(): void
}

export const openerFor =
  (model: ReadModel, opened: Opened): DocumentOpener =>
  (document) =>
    opened(model, document)

/** Those documents of a state that belong to an organization. */
const ownOf = async (organizationId: string, state: Promise<PastState>): Promise<Owned[]> => {
  const own: Owned[] = []
  for await (const some of inTurns((await state).documents))
    own.push(...some.filter(([, document]) => document.organization_id === organizationId))
  return own
}

/** What feeds read of the log: states as of a position, and what has changed between two. */
export const feedHistory = (uses: Uses) => {
  const { read, readHistory, stateAt, opened, now = () => performance.now() } = uses
  const shared = new Map<string, Snapshot>()
  const parts = partLoads<LoadedPart>()

  /** A snapshot shared by all who ask within a second: a thousand subscribers cost one replay. */
  const snapshotOf = (request: SnapshotRequest, model: ReadModel) => {
    const { organizationId, position, follows } = request
    const name = `${organizationId}/${model.name}`
    const known = shared.get(name)
    if (known && known.until > now() && (follows || known.position === position)) return known
    if (known && follows && known.readers > 0 && now() - known.createdAt < readMs) return known
    const own = ownOf(organizationId, stateAt(organizationId, model, position))
    const snapshot: Snapshot = {
      position,
      own,
      until: Number.POSITIVE_INFINITY,
      createdAt: now(),
      readers: 0,
      forget() {
        if (shared.get(name) === snapshot && snapshot.readers === 0) shared.delete(name)
      },
    }
    shared.set(name, snapshot)
    own.then(() => {
      snapshot.until = now() + sharedMs
      setTimeout(snapshot.forget, sharedMs).unref()
    }, snapshot.forget)
    return snapshot
  }

  /** A snapshot that is held for others who come while it is read. */
  const enter = (request: SnapshotRequest, model: ReadModel) => {
    const shared = snapshotOf(request, model)
    shared.readers++
    const leave = () => {
      shared.readers--
      if (shared.until <= now()) shared.forget()
    }
    return { position: shared.position, own: shared.own, leave }
  }

  return {
    /** @throws read_model_not_found, state_too_large */
    snapshot(request: SnapshotRequest): AsyncIterableIterator<FeedBatch, undefined> {
      const { organizationId } = request
      let leave = (): void => undefined
      const start = async (): Promise<BatchResult> => {
        const model = findReadModel(request.model)
        const shared = enter(request, model)
        leave = shared.leave
        const { position } = shared
        const open = openerFor(model, opened)
        const make = async ([id, document]: Owned) => upsert(id, await open(document), position)
        const load = (n: number, count: number, some: readonly Owned[]) =>
          parts(organizationId, `${model.name} ${position} ${n} ${count}`, () =>
            loadPart(some, count, async () => make),
          )
        step = snapshotBatches(await shared.own, position, load)
        return step()
      }
      let step = start
      const end = async (): Promise<IteratorReturnResult<undefined>> => {
        step = end
        leave()
        leave = () => undefined
        return endOfFeed
      }
      return {
        async next() {
          try {
            const result = await step()
            return result.done ? end() : result
          } catch (error) {
            await end()
            throw error
          }
        },
        return: end,
        [Symbol.asyncIterator]() {
          return this
        },
      }
    },

    /** In windows, the last of which ends at `upTo`. */
    async *touched({ organizationId, model, after, upTo }: HistoryRange): AsyncGenerator<Touched> {
      const changed = touched(findReadModel(model), read)
      let ids = new Map<string, Position>()
      let looked = 0
      for await (const { events, position } of readHistory({ organizationId, after, upTo })) {
        for (const [id, at] of await changed(events)) {
          ids.delete(id)
          ids.set(id, at)
        }
        looked += events.length
        if (looked < window) continue
        yield { ids, position }
        ids = new Map()
        looked = 0
      }
      yield { ids, position: upTo }
    },
  }
}

export type FeedHistory = {
  snapshot(request: SnapshotRequest): AsyncIterable<FeedBatch>
  touched(request: HistoryRange): AsyncIterable<Touched>
}
