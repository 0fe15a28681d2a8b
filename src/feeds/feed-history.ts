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
  ended,
  type FeedBatch,
  type LoadedPart,
  loadPart,
  type Shown,
  snapshotBatches,
  upsert,
} from './item.ts'
import { partLoads } from './part-loads.ts'
import { touched } from './touched.ts'

/** How long a snapshot is shared with others who ask for it. */
const sharedMs = 1_000
/** Where it is still being read, a follower is given it for so long: clients that do not read hold few. */
const readMs = 60_000
/** How many events' changes are told together. */
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

export type AskedSnapshot = {
  organizationId: string
  /** The read model's name. */
  model: string
  position: Position
  /** Changes after any position are told too, so an older snapshot will do. */
  follows: boolean
}

export type AskedTouched = {
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
  made: number
  readers: number
  forget(): void
}

export const shownBy =
  (model: ReadModel, opened: Opened): Shown =>
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
  const snapshotOf = (asked: AskedSnapshot, model: ReadModel) => {
    const { organizationId, position, follows } = asked
    const name = `${organizationId}/${model.name}`
    const known = shared.get(name)
    if (known && known.until > now() && (follows || known.position === position)) return known
    if (known && follows && known.readers > 0 && now() - known.made < readMs) return known
    const own = ownOf(organizationId, stateAt(organizationId, model, position))
    const made: Snapshot = {
      position,
      own,
      until: Number.POSITIVE_INFINITY,
      made: now(),
      readers: 0,
      forget() {
        if (shared.get(name) === made && made.readers === 0) shared.delete(name)
      },
    }
    shared.set(name, made)
    own.then(() => {
      made.until = now() + sharedMs
      setTimeout(made.forget, sharedMs).unref()
    }, made.forget)
    return made
  }

  /** A snapshot that is held for others who come while it is read. */
  const enter = (asked: AskedSnapshot, model: ReadModel) => {
    const shared = snapshotOf(asked, model)
    shared.readers++
    const leave = () => {
      shared.readers--
      if (shared.until <= now()) shared.forget()
    }
    return { position: shared.position, own: shared.own, leave }
  }

  return {
    /** @throws read_model_not_found, state_too_large */
    snapshot(asked: AskedSnapshot): AsyncIterableIterator<FeedBatch, undefined> {
      const { organizationId } = asked
      let leave = (): void => undefined
      const begin = async (): Promise<BatchResult> => {
        const model = findReadModel(asked.model)
        const shared = enter(asked, model)
        leave = shared.leave
        const { position } = shared
        const shown = shownBy(model, opened)
        const make = async ([id, document]: Owned) => upsert(id, await shown(document), position)
        const load = (n: number, count: number, some: readonly Owned[]) =>
          parts(organizationId, `${model.name} ${position} ${n} ${count}`, () =>
            loadPart(some, count, async () => make),
          )
        step = snapshotBatches(await shared.own, position, load)
        return step()
      }
      let step = begin
      const end = async (): Promise<IteratorReturnResult<undefined>> => {
        step = end
        leave()
        leave = () => undefined
        return ended
      }
      return {
        async next() {
          try {
            const told = await step()
            return told.done ? end() : told
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
    async *touched({ organizationId, model, after, upTo }: AskedTouched): AsyncGenerator<Touched> {
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
  snapshot(asked: AskedSnapshot): AsyncIterable<FeedBatch>
  touched(asked: AskedTouched): AsyncIterable<Touched>
}
