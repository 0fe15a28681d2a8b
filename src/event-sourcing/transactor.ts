import type { EventOf, EventTable, Stream } from '../domain/aggregate.ts'
import type { Call } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'
import type { EventStore } from '../ports/event-store.ts'
import type { Snapshots } from '../ports/snapshots.ts'
import { deferred } from '../support/deferred.ts'
import { appendDecisions } from './append-decisions.ts'
import { type AppendTimes, appendTimes } from './append-times.ts'
import {
  type AnyStream,
  type CachedStream,
  type Decided,
  type Loaded,
  type PendingDecision,
  type PendingLoad,
  streamCache,
  type Transacted,
} from './stream-cache.ts'

/**
 * A decision under way. `decided` settles once it stands: where no other process writes that is before it is on
 * disk, else at the same time as `stored`, which settles once it is.
 */
export type Begun<State, Events> = {
  decided: Promise<Events>
  stored: Promise<Transacted<State, Events>>
}

type Options = {
  store: EventStore
  snapshots: Snapshots
  clock: Clock
  times?: Pick<AppendTimes, 'stamp' | 'during'>
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
  const { times = appendTimes(clock) } = options
  const cache = streamCache({ store, snapshots, keep })
  const decideAndAppend = appendDecisions({ store, cache, clock, times, shared })

  /** `fresh`: the stream was read to its end after these loads were asked for. */
  const answer = async (
    stream: AnyStream,
    cached: CachedStream,
    loads: readonly PendingLoad[],
    fresh: boolean,
  ): Promise<void> => {
    const current = cached.known && (fresh || !shared)
    const failure = current ? undefined : await cache.caughtUp(stream, cached)
    const { state, revision, position } = cached
    for (const one of loads)
      if (failure) one.refused(failure)
      else one.loaded({ state, revision, position })
  }

  /** Decides and answers until nothing waits for the stream. */
  const serve = async (stream: AnyStream, cached: CachedStream): Promise<void> => {
    cache.activate(stream, cached)
    while (cached.waiting.length > 0 || cached.loads.length > 0) {
      const loads = cached.loads.splice(0)
      const cold = !cached.known
      const failure = cold ? await cache.caughtUp(stream, cached) : undefined
      const decisions = cached.waiting.splice(0)
      if (failure) {
        for (const one of [...decisions, ...loads]) one.refused(failure)
        continue
      }
      if (decisions.length > 0) await decideAndAppend(stream, cached, decisions, cold)
      if (loads.length > 0) await answer(stream, cached, loads, cold)
    }
    cache.release(stream, cached)
  }

  const served = (stream: AnyStream, cached: CachedStream): void => {
    if (!cached.busy) void serve(stream, cached)
  }

  const wait = <State, Table extends EventTable>(
    stream: Stream<State, Table>,
    pending: PendingDecision,
  ): void => {
    const any = stream as unknown as AnyStream
    const cached = cache.of(any)
    cached.waiting.push(pending)
    served(any, cached)
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
    wait(stream, {
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
  ): Promise<Transacted<State, Events>> =>
    new Promise((resolve, reject) => {
      wait(stream, {
        decide: decide as (state: unknown) => Decided,
        call,
        decided: () => undefined,
        stored: (result) => resolve(result as unknown as Transacted<State, Events>),
        refused: reject,
      })
    })

  /**
   * The stream to its end, with what was decided on it before this call. Where other processes
   * write too, what they had stored by the time of the call is in it. @throws StoreUnavailable
   */
  const load = <State, Table extends EventTable>(
    stream: Stream<State, Table>,
  ): Promise<Loaded<State>> => {
    const loading = deferred<Loaded<State>>()
    const any = stream as unknown as AnyStream
    const cached = cache.of(any)
    cached.loads.push({
      loaded: (found) => loading.resolve(found as Loaded<State>),
      refused: loading.reject,
    })
    served(any, cached)
    return loading.promise
  }

  return { load, transact, begin }
}

export type Transactor = ReturnType<typeof transactor>
export type Load = Transactor['load']
export type Transact = Transactor['transact']
/** For those that read streams and decide on them. */
export type Streams = Pick<Transactor, 'load' | 'transact'>
