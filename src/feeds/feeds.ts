import { readModels } from '../../projections/all.ts'
import type { ReadModel } from '../../projections/projection.ts'
import type { ReadHistory } from '../../queries/read-history.ts'
import { latest, type Position } from '../domain/event.ts'
import { START } from '../ports/event-store.ts'
import type { Document } from '../ports/views.ts'
import type { TemporalQuery } from '../projector/temporal-query.ts'
import { ending, type FeedBatch, itemParts, itemsOf, type Shown, upsert } from './item.ts'
import { type LiveUses, live } from './live.ts'
import { touched } from './touched.ts'

/** How long a snapshot is shared with others who ask for it. */
const sharedMs = 1_000
/** Where it is still being read, a follower is given it for so long: clients that do not read hold few. */
const readMs = 60_000
/** How many events' changes are sent together. */
const window = 2_000

type Uses = LiveUses & {
  readHistory: ReadHistory
  stateAt: TemporalQuery
  head(): Promise<Position>
  end(): Promise<Position>
  /** A document as it is shown, its sealed texts opened. */
  opened(model: ReadModel, document: Document): Promise<Document>
  /** A monotonic clock, in milliseconds. */
  now?: () => number
}

export type FeedRequest = {
  organizationId: string
  model: ReadModel
  /** Where to resume; undefined: from the beginning or, without a snapshot, from now. */
  after: Position | undefined
  snapshot: boolean
}

/**
 * Feeds of read models: a snapshot, the changes since a position, and the changes as they happen.
 * Positions are those of the log: they stay valid after a restart and on other nodes.
 */
export const feeds = (uses: Uses) => {
  const { store, views, at, readHistory, stateAt, head, end, opened } = uses
  const { now = () => performance.now() } = uses
  const following = live(uses)
  type Owned = readonly [id: string, document: Document]
  type Snapshot = {
    position: Position
    own: Promise<readonly Owned[]>
    until: number
    made: number
    readers: number
    forget(): void
  }
  const shared = new Map<string, Snapshot>()

  const shownBy =
    (model: ReadModel): Shown =>
    (document) =>
      opened(model, document)

  /** A snapshot shared by all who ask within a second: a thousand subscribers cost one replay. */
  const snapshotOf = ({ organizationId, model }: FeedRequest, follows: boolean) => {
    const name = `${organizationId}/${model.name}`
    const known = shared.get(name)
    const position = at(model.name)
    if (known && known.until > now() && (follows || known.position === position)) return known
    if (known && follows && known.readers > 0 && now() - known.made < readMs) return known
    const own = stateAt(organizationId, model, position).then(({ documents }) =>
      [...documents].filter(([, document]) => document.organization_id === organizationId),
    )
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

  async function* snapshot(asked: FeedRequest, follows: boolean): AsyncGenerator<FeedBatch> {
    const { model } = asked
    const read = snapshotOf(asked, follows)
    const { position, own } = read
    const shown = shownBy(model)
    const make = async ([id, document]: Owned) => upsert(id, await shown(document), position)
    read.readers++
    try {
      yield* ending(itemParts(await own, make), position, { partial: true })
    } finally {
      read.readers--
      if (read.until <= now()) read.forget()
    }
  }

  async function* changes(
    organizationId: string,
    model: ReadModel,
    after: Position,
    upTo: Position,
  ): AsyncGenerator<FeedBatch> {
    const changed = touched(model, store.read)
    const shown = shownBy(model)
    let ids = new Map<string, Position>()
    let looked = 0
    const tell = (reached: Position) =>
      ending(itemsOf(views.load, model.name, organizationId, ids, shown), reached)
    for await (const { events, position } of readHistory({ organizationId, after, upTo })) {
      for (const [id, at] of await changed(events)) {
        ids.delete(id)
        ids.set(id, at)
      }
      looked += events.length
      if (looked < window) continue
      yield* tell(position)
      ids = new Map()
      looked = 0
    }
    yield* tell(upTo)
  }

  /** The feed up to the present position, where it can be resumed. */
  async function* upToNow(asked: FeedRequest, follows = false): AsyncGenerator<FeedBatch> {
    const { organizationId, model, after } = asked
    const upTo = at(model.name)
    if (after !== undefined) yield* changes(organizationId, model, after, latest(after, upTo))
    else if (asked.snapshot) yield* snapshot(asked, follows)
    else yield { items: [], reached: upTo }
  }

  /**
   * As `upToNow`, then changes as they happen. Ends when the consumer is too slow (`cut`) or at
   * `close`.
   */
  async function* follow(
    asked: FeedRequest,
    signal: AbortSignal,
    cut: () => void,
  ): AsyncGenerator<FeedBatch> {
    const { organizationId, model } = asked
    let position = START
    for await (const told of upToNow(asked, true)) {
      position = told.reached ?? position
      yield told
    }
    // Changes written meanwhile are read from the log: nothing is buffered for this consumer yet.
    const now = latest(position, at(model.name))
    yield* changes(organizationId, model, position, now)
    const joined = await following.join(
      organizationId,
      { projection: model, shown: shownBy(model) },
      cut,
    )
    if (!joined) return
    signal.addEventListener('abort', joined.end)
    try {
      if (joined.from > now) yield* changes(organizationId, model, now, joined.from)
      if (signal.aborted) return
      for await (const items of joined.follow()) yield { items }
    } finally {
      signal.removeEventListener('abort', joined.end)
      joined.leave()
    }
  }

  return {
    /** The read models, each with the position it is folded to and its lag behind the log. */
    async list() {
      const last = await head()
      return [...readModels].map(([read_model, { shown }]) => {
        const position = at(read_model)
        const { amount: lag, unit: lag_unit } = store.distance(position, last)
        return { read_model, schema: shown.schema, position, lag, lag_unit }
      })
    },
    end,
    upToNow,
    follow,
    close: following.close,
  }
}
export type Feeds = ReturnType<typeof feeds>
