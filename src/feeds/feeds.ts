import { readModels } from '../../projections/all.ts'
import { type ReadModel, shownDocument } from '../../projections/projection.ts'
import type { ReadHistory } from '../../queries/read-history.ts'
import { START } from '../ports/event-store.ts'
import type { TemporalQuery } from '../projector/temporal-query.ts'
import { itemsOf, type Shown, type Told, upsert } from './item.ts'
import { type LiveUses, live } from './live.ts'
import { touched } from './touched.ts'

/** How long a snapshot is good for another who asks. */
const sharedMs = 1_000
/** Events whose changes are told together. */
const window = 2_000
/** Documents of a snapshot that are told together. */
const some = 200

type Uses = LiveUses & {
  readHistory: ReadHistory
  stateAt: TemporalQuery
  head(): Promise<number>
  /** Opens what is sealed in a document. */
  opened(value: unknown): Promise<unknown>
  /** Milliseconds that only ever grow. */
  now?: () => number
}

export type FeedRequest = {
  organizationId: string
  model: ReadModel
  /** Where to resume; undefined: from the beginning or, without a snapshot, from now. */
  after: number | undefined
  snapshot: boolean
}

/**
 * Read models as they change: a snapshot, what has changed since a position, and what changes. All of
 * it rests on the log: a position is as good after a restart, and on another node.
 */
export const feeds = (uses: Uses) => {
  const { store, views, at, readHistory, stateAt, head, opened } = uses
  const { now = () => performance.now() } = uses
  const following = live(uses)
  type Snapshot = { position: number; state: ReturnType<TemporalQuery>; until: number }
  const shared = new Map<string, Snapshot>()

  const shownBy =
    (model: ReadModel): Shown =>
    async (document) =>
      (await opened(shownDocument(model, document))) as typeof document

  /** One for all who ask within a second and follow: a thousand at once cost one replay. */
  const snapshotOf = ({ organizationId, model }: FeedRequest, follows: boolean) => {
    const name = `${organizationId}/${model.name}`
    const known = shared.get(name)
    const position = at(model.name)
    if (known && known.until > now() && (follows || known.position === position)) return known
    const state = stateAt(organizationId, model, position)
    const made: Snapshot = { position, state, until: Number.POSITIVE_INFINITY }
    shared.set(name, made)
    const forget = () => {
      if (shared.get(name) === made) shared.delete(name)
    }
    state.then(() => {
      made.until = now() + sharedMs
      setTimeout(forget, sharedMs).unref()
    }, forget)
    return made
  }

  async function* snapshot(asked: FeedRequest, follows: boolean): AsyncGenerator<Told> {
    const { organizationId, model } = asked
    const { position, state } = snapshotOf(asked, follows)
    const shown = shownBy(model)
    const own = [...(await state).documents].filter(
      ([, document]) => document.organization_id === organizationId,
    )
    let n = 0
    do {
      const part = own.slice(n, n + some)
      n += some
      const made = part.map(async ([id, document]) => upsert(id, await shown(document), position))
      const items = await Promise.all(made)
      yield n < own.length ? { items, partial: true } : { items, reached: position }
    } while (n < own.length)
  }

  async function* changes(
    organizationId: string,
    model: ReadModel,
    after: number,
    upTo: number,
  ): AsyncGenerator<Told> {
    const changed = touched(model, store.read)
    const shown = shownBy(model)
    let ids = new Map<string, number>()
    let looked = 0
    const tell = () => itemsOf(views.load, model.name, organizationId, ids, shown)
    for await (const { events, position } of readHistory({ organizationId, after, upTo })) {
      for (const [id, at] of await changed(events)) {
        ids.delete(id)
        ids.set(id, at)
      }
      looked += events.length
      if (looked < window) continue
      yield { items: await tell(), reached: position }
      ids = new Map()
      looked = 0
    }
    yield { items: await tell(), reached: upTo }
  }

  /** Where a feed that is asked for now is up to date, so that it can be resumed from there. */
  async function* upToNow(asked: FeedRequest, follows = false): AsyncGenerator<Told> {
    const { organizationId, model, after } = asked
    const upTo = at(model.name)
    if (after !== undefined) yield* changes(organizationId, model, after, Math.max(after, upTo))
    else if (asked.snapshot) yield* snapshot(asked, follows)
    else yield { items: [], reached: upTo }
  }

  /** As `upToNow`, then what changes. Ends when the consumer is too slow (`cut`), or at `close`. */
  async function* follow(
    asked: FeedRequest,
    signal: AbortSignal,
    cut: () => void,
  ): AsyncGenerator<Told> {
    const { organizationId, model } = asked
    let position = START
    for await (const told of upToNow(asked, true)) {
      position = told.reached ?? position
      yield told
    }
    // What was written meanwhile, while nothing is held for this consumer yet.
    const now = Math.max(position, at(model.name))
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
    /** The read models, with how far each is folded and how far the log is ahead of that. */
    async list() {
      const end = await head()
      return [...readModels].map(([read_model, { shown }]) => {
        const position = at(read_model)
        return { read_model, schema: shown.schema, position, lag: Math.max(0, end - position) }
      })
    },
    head,
    upToNow,
    follow,
    close: following.close,
  }
}
export type Feeds = ReturnType<typeof feeds>
