import { v5 as uuidOf } from 'uuid'
import { type EventOf, type EventTable, evolved, type Stream } from '../domain/aggregate.ts'
import { schemaVersionOf } from '../domain/versions.ts'
import { type Call, metadataOf } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'
import {
  AppendTooLarge,
  type EventStore,
  type NewEvent,
  RevisionConflict,
} from '../ports/event-store.ts'
import type { Snapshots } from '../ports/snapshots.ts'
import { deferred } from '../support/deferred.ts'
import {
  type AnyStream,
  type CachedStream,
  type Decided,
  type PendingDecision,
  streamCache,
  type Transacted,
} from './stream-cache.ts'

const maxAttempts = 8
const namespace = '6f1d3c1e-55a1-4c0b-9a55-3d2f7f0c1b7e'

/** A decision under way. `decided` settles once it is made, `stored` once it is on disk. */
export type Begun<State, Events> = {
  decided: Promise<Events>
  stored: Promise<Transacted<State, Events>>
}

type Options = {
  store: EventStore
  snapshots: Snapshots
  clock: Clock
  /** Other processes write to the store too: nothing is refused before looking again. */
  shared?: boolean
  /** How much of idle streams' states is kept in memory, in characters (`Aggregate.weigh`). */
  keep?: number
}

/**
 * Read → fold → decide → append. A stream's state is kept by revision, so a decision costs the same
 * on a long stream as on a short one. While an append to a stream is under way, further decisions
 * on it wait, are then made in order and appended together: a busy stream costs one append a round
 * trip, and no decision rests on a state that is not stored. When another process was faster,
 * everything in that append is decided again on what it wrote.
 */
export const transactor = (options: Options) => {
  const { store, snapshots, clock, shared = false, keep = 64_000_000 } = options
  const { of, catchUp, forget, activate, release } = streamCache({ store, snapshots, keep })

  /** As catchUp; answers what went wrong. */
  const caughtUp = (stream: AnyStream, cached: CachedStream): Promise<unknown> =>
    catchUp(stream, cached).then(
      () => undefined,
      (error: unknown) => error,
    )

  const stamped = (name: string, revision: number, call: Call, events: Decided): NewEvent[] => {
    const metadata = metadataOf(call, 1)
    return events.map(({ type, data }, n) => {
      const version = schemaVersionOf(type)
      return {
        id: call.scope
          ? uuidOf(`${call.scope}/${name}/${revision + 1 + n}`, namespace)
          : clock.id(),
        type,
        data,
        metadata: version === 1 ? metadata : { ...metadata, schema_version: version },
      }
    })
  }

  /** Everyone's decision, each on the state that the ones before it leave; nothing is stored. */
  const decideAll = (
    { aggregate, name }: AnyStream,
    cached: CachedStream,
    batch: readonly PendingDecision[],
  ) => {
    let { state } = cached
    const events: NewEvent[] = []
    const accepted: { one: PendingDecision; events: Decided; state: unknown }[] = []
    const refused: { one: PendingDecision; error: unknown }[] = []
    for (const one of batch) {
      try {
        const decided = one.decide(state)
        state = evolved(aggregate, state, decided as readonly EventOf<EventTable>[])
        events.push(...stamped(name, cached.revision + events.length, one.call, decided))
        accepted.push({ one, events: decided, state })
      } catch (error) {
        refused.push({ one, error })
      }
    }
    return { state, events, accepted, refused }
  }

  /** Decides for everyone who waits, in order, and appends it all; a refusal goes out alone. */
  const round = async (
    stream: AnyStream,
    cached: CachedStream,
    waiting: PendingDecision[],
    fresh: boolean,
  ): Promise<void> => {
    let batch = waiting
    let current = fresh || !shared
    for (let attempt = 1; ; attempt++) {
      const { state, events, accepted, refused } = decideAll(stream, cached, batch)
      const idle = accepted.some(({ events }) => events.length === 0)
      if (!current && (refused.length > 0 || idle)) {
        const failure = await caughtUp(stream, cached)
        if (failure) {
          for (const one of batch) one.refused(failure)
          return
        }
        current = true
        continue
      }
      for (const { one, error } of refused) one.refused(error)
      for (const { one, events } of accepted) one.decided(events)
      batch = accepted.map(({ one }) => one)
      try {
        if (events.length > 0) {
          const last = await store.append(stream.name, cached.revision, events)
          Object.assign(cached, { state, ...last })
        }
      } catch (error) {
        if (error instanceof AppendTooLarge && batch.length > 1) {
          // Together they are too large for one append; one at a time they may not be.
          for (const one of batch) await round(stream, cached, [one], true)
          return
        }
        const outrun = error instanceof RevisionConflict && attempt < maxAttempts
        const failure = outrun ? await caughtUp(stream, cached) : error
        if (failure) {
          forget(stream, cached)
          for (const one of batch) one.refused(failure)
          return
        }
        current = true
        continue
      }
      const { position } = cached
      for (const { one, events, state } of accepted) one.stored({ events, state, position })
      return
    }
  }

  const serve = async (stream: AnyStream, cached: CachedStream): Promise<void> => {
    activate(stream, cached)
    while (cached.waiting.length > 0) {
      const fresh = cached.revision === -1
      try {
        if (fresh) await catchUp(stream, cached)
      } catch (error) {
        forget(stream, cached)
        for (const { refused } of cached.waiting.splice(0)) refused(error)
        continue
      }
      await round(stream, cached, cached.waiting.splice(0), fresh)
    }
    release(stream, cached)
  }

  const enqueue = (stream: AnyStream, waiting: PendingDecision): void => {
    const cached = of(stream)
    cached.waiting.push(waiting)
    if (!cached.busy) void serve(stream, cached)
  }

  /** Decides and stores, telling the two apart: other work may start once the decision stands. */
  const begin = <State, Table extends EventTable, Events extends readonly EventOf<Table>[]>(
    stream: Stream<State, Table>,
    decide: (state: State) => Events,
    call: Call,
  ): Begun<State, Events> => {
    const decided = deferred<Events>()
    const stored = deferred<Transacted<State, Events>>()
    decided.promise.catch(() => undefined)
    stored.promise.catch(() => undefined)
    enqueue(stream as unknown as AnyStream, {
      decide: decide as (state: unknown) => Decided,
      call,
      decided: (events) => decided.resolve(events as unknown as Events),
      stored: (result) => stored.resolve(result as unknown as Transacted<State, Events>),
      refused: (error) => {
        decided.reject(error)
        stored.reject(error)
      },
    })
    return { decided: decided.promise, stored: stored.promise }
  }

  /**
   * Decides on a stream and stores what comes of it.
   * @throws what `decide` throws; StoreUnavailable; RevisionConflict when outrun too often.
   */
  const transact = <State, Table extends EventTable, Events extends readonly EventOf<Table>[]>(
    stream: Stream<State, Table>,
    decide: (state: State) => Events,
    call: Call,
  ): Promise<Transacted<State, Events>> => begin(stream, decide, call).stored

  return { transact, begin }
}

export type Transactor = ReturnType<typeof transactor>
export type Transact = Transactor['transact']
