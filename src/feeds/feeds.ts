import { readModels } from '../../projections/all.ts'
import type { ReadModel } from '../../projections/projection.ts'
import { latest, type Position } from '../domain/event.ts'
import { START } from '../ports/event-store.ts'
import { type FeedHistory, type Opened, openerFor } from './feed-history.ts'
import {
  type BatchResult,
  changedBatches,
  endOfFeed,
  type FeedBatch,
  type LoadedPart,
  lengthOf,
} from './item.ts'
import { type Joined, type LiveUses, live } from './live.ts'
import { partLoads } from './part-loads.ts'
import { sharedItems } from './shared-items.ts'
import { inSlices } from './slices.ts'
import type { WriteBatch } from './subscriber.ts'

/** How long a read model that is behind the log is waited for; what folds it may have to start. */
const patienceMs = 10_000
/** What a consumer that reads the past holds besides its items: names of documents to come. */
const besidesBytes = 65_536
/** Memory of a character of any script: in its item, and in its frame. */
const itemBytes = 2
const frameBytes = 3
/** A consumer that has not taken a batch for so long is disconnected before others. */
const stalledMs = 1_000

type Uses = LiveUses & {
  history: FeedHistory
  head(): Promise<Position>
  end(): Promise<Position>
  /** A document as it is shown, its sealed texts opened. */
  opened: Opened
  /** A monotonic clock, in milliseconds. */
  monotonic?: () => number
}

export type FeedRequest = {
  organizationId: string
  model: ReadModel
  /** Where to resume; undefined: from the beginning or, without a snapshot, from now. */
  after: Position | undefined
  snapshot: boolean
}

/** One who follows asks for the next batch when it has taken the last. */
export type Following = {
  next(): Promise<BatchResult>
  /**
   * Changes may be written as they happen while `next` is waited for, which then goes on waiting.
   */
  pushes(write: WriteBatch): void
  return(): Promise<IteratorReturnResult<undefined>>
  [Symbol.asyncIterator](): Following
}

/**
 * Feeds of read models: a snapshot, the changes since a position, and the changes as they happen.
 * Positions are those of the log: they stay valid after a restart and on other nodes.
 */
export const feeds = (uses: Uses) => {
  const { store, views, at, waitForPosition, history, head, end, opened, buffers } = uses
  const { monotonic = () => performance.now() } = uses
  const following = live(uses)
  const parts = partLoads<LoadedPart>()
  const share = sharedItems()

  /**
   * Batches. The items of each count until the next is there, as generators keep them until then;
   * their frames, until the consumer requests the next.
   */
  async function* counted(
    batches: AsyncIterable<FeedBatch>,
    drop: () => void,
  ): AsyncGenerator<FeedBatch> {
    let givenAt = Number.POSITIVE_INFINITY
    const isStalled = () => monotonic() - givenAt > stalledMs
    const holder = buffers.holder({ drop, isStalled })
    holder.hold(besidesBytes)
    try {
      for await (const batch of batches) {
        const characters = lengthOf(batch.items)
        holder.hold(besidesBytes + (itemBytes + frameBytes) * characters)
        givenAt = monotonic()
        yield batch
        givenAt = Number.POSITIVE_INFINITY
        holder.hold(besidesBytes + itemBytes * characters)
      }
    } finally {
      holder.leave()
    }
  }

  async function* changes(
    organizationId: string,
    model: ReadModel,
    after: Position,
    upTo: Position,
  ): AsyncGenerator<FeedBatch> {
    const open = openerFor(model, opened)
    const loading = { load: views.load, view: model.name, organizationId, open, parts, share }
    const range = { organizationId, model: model.name, after, upTo }
    for await (const { ids, position } of history.touched(range))
      yield* changedBatches(loading, ids, position)
  }

  /** The feed up to the present position, where it can be resumed. */
  async function* upToNow(request: FeedRequest, follows = false): AsyncGenerator<FeedBatch> {
    const { organizationId, model, after } = request
    await waitForPosition(await head(), patienceMs, [model.name])
    const upTo = at(model.name)
    if (after !== undefined) {
      yield* changes(organizationId, model, after, latest(after, upTo))
    } else if (request.snapshot)
      yield* history.snapshot({ organizationId, model: model.name, position: upTo, follows })
    else yield { items: [], reached: upTo }
  }

  /**
   * As `upToNow`, then the changes until this consumer has joined the live subscribers.
   */
  async function* untilJoined(
    request: FeedRequest,
    join: () => Promise<Joined>,
  ): AsyncGenerator<FeedBatch> {
    const { organizationId, model } = request
    let position = START
    for await (const batch of upToNow(request, true)) {
      position = batch.reached ?? position
      if (batch.items.length > 0 || batch.reached !== undefined) yield batch
    }
    // Changes written meanwhile are read from the log: nothing is buffered for this consumer yet.
    const now = latest(position, at(model.name))
    if (now > position) yield* changes(organizationId, model, position, now)
    const joined = await join()
    if (joined && joined.from > now) yield* changes(organizationId, model, now, joined.from)
  }

  /**
   * As `upToNow`, then changes as they happen. Ends when the consumer is too slow (`cut`) or at
   * `close`.
   */
  const follow = (request: FeedRequest, signal: AbortSignal, cut: () => void): Following => {
    const { organizationId, model } = request
    let joined: Joined
    let write: WriteBatch | undefined
    const join = async () => {
      const projected = { projection: model, open: openerFor(model, opened) }
      joined = await following.join(organizationId, projected, cut)
      return joined
    }
    const leave = () => joined?.leave()
    const earlier = counted(untilJoined(request, join), () => {
      leave()
      cut()
    })
    signal.addEventListener('abort', leave)

    const end = async () => {
      await earlier.return(undefined)
      leave()
      return endOfFeed
    }
    const failed = (error: unknown): never => {
      leave()
      throw error
    }
    const start = async () => {
      const result = signal.aborted ? endOfFeed : await earlier.next().catch(failed)
      if (!result.done) return result
      if (!joined || signal.aborted) return end()
      next = joined.next
      if (write) joined.pushes(write)
      return next()
    }
    let next: Following['next'] = start

    return {
      next: () => next(),
      pushes(to) {
        write = to
        joined?.pushes(to)
      },
      return: end,
      [Symbol.asyncIterator]() {
        return this
      },
    }
  }

  return {
    /** The read models, each with the position it is folded to and its lag behind the log. */
    async list() {
      const last = await head()
      await waitForPosition(last, patienceMs, [...readModels.keys()])
      return [...readModels].map(([read_model, model]) => {
        const position = at(read_model)
        const { amount: lag, unit: lag_unit } = store.distance(position, last)
        return { read_model, schema: model.shown.schema, position, lag, lag_unit }
      })
    },
    end,
    /**
     * The feed up to the present position. A consumer that is too slow is disconnected by `cut`.
     */
    upToNow: (request: FeedRequest, cut: () => void) => counted(upToNow(request), cut),
    /**
     * To be waited for before following: of many who come at once, a few begin in a turn of the
     * loop.
     */
    admit: inSlices(),
    follow,
    close: following.close,
  }
}
export type Feeds = ReturnType<typeof feeds>
