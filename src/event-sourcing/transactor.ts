import type { EventOf, EventTable, Stream } from '../domain/aggregate.ts'
import type { Call } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'
import type { EventStore } from '../ports/event-store.ts'
import { type Log, silent } from '../ports/log.ts'
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
  streamCache,
  type Transacted,
} from './stream-cache.ts'
import { type WatchedAppends, watchedAppends } from './watched-appends.ts'

/**
 * A decision under way. `decided` resolves once it stands: where no other process writes, before it
 * is on disk; else together with `stored`, which settles once it is.
 */
export type OngoingDecision<State, Events> = {
  decided: Promise<Events>
  stored: Promise<Transacted<State, Events>>
}

type Options = {
  store: EventStore
  snapshots: Snapshots
  clock: Clock
  times?: Pick<AppendTimes, 'stamp' | 'began' | 'ended'>
  /** Called for every append. */
  appends?: Pick<WatchedAppends, 'stored' | 'failed'>
  /** Called for each misfit, with type and field, never data. */
  log?: Pick<Log, 'error'>
  /** Other processes write to the store too: nothing is refused before looking again. */
  shared?: boolean
  /** How much of idle streams' states is kept in memory, in characters (`Aggregate.weigh`). */
  keep?: number
}

/** Holds the largest organization: 1,000 agents of 100,000 characters. */
const usualKeep = 128_000_000

const ignored = (): void => undefined
const notMade: Decided = []

/** @throws UnreadableEvent where one was left out of the state that is decided on */
const onWhole =
  (cached: CachedStream, decide: PendingDecision['decide']): PendingDecision['decide'] =>
  (state) => {
    if (cached.unreadable) throw cached.unreadable
    return decide(state)
  }

const pending = <State>(decide: (state: State) => Decided, call: Call): PendingDecision => ({
  decide: decide as (state: unknown) => Decided,
  call,
  events: notMade,
  state: undefined,
  refusal: undefined,
  stands: false,
  decided: undefined,
  stored: ignored,
  refused: ignored,
})

/**
 * Read → fold → decide → append. A stream's state is kept by revision, so a decision costs the same
 * on a long stream as on a short one. While an append to a stream is under way, further decisions
 * on it wait, are then made in order and appended together: a busy stream costs one append a round
 * trip, and no decision rests on a state that is not stored. When another process was faster,
 * everything in that append is decided again on what it wrote.
 */
export const transactor = (options: Options) => {
  const { store, snapshots, clock, shared = false, keep = usualKeep } = options
  const { times = appendTimes(clock), appends = watchedAppends(), log = silent } = options
  const cache = streamCache({ store, snapshots, keep })
  const serve = appendDecisions({ store, cache, clock, times, appends, log, shared })

  const served = (stream: AnyStream, cached: CachedStream): void => {
    if (!cached.busy) void serve(stream, cached)
  }

  /** A decision is made at once where nothing has to be read for it. */
  const wait = <State, Table extends EventTable>(
    stream: Stream<State, Table>,
    decision: PendingDecision,
  ): void => {
    const any = stream as unknown as AnyStream
    const cached = cache.of(any)
    if (!stream.despiteUnreadable) decision.decide = onWhole(cached, decision.decide)
    if (cached.waiting.length > 0) cached.waiting.push(decision)
    else cached.waiting = [decision]
    served(any, cached)
  }

  /** Decides and stores, telling the two apart: other work may start once the decision stands. */
  const beginDecision = <State, Table extends EventTable, Events extends readonly EventOf<Table>[]>(
    stream: Stream<State, Table>,
    decide: (state: State) => Events,
    call: Call,
  ): OngoingDecision<State, Events> => {
    const decision = pending(decide, call)
    const stored = new Promise<Transacted<State, Events>>((resolve, reject) => {
      decision.stored = resolve as unknown as PendingDecision['stored']
      decision.refused = (error) => {
        // Who waits for the decision need not wait for this.
        stored.catch(ignored)
        reject(error)
      }
    })
    wait(stream, decision)
    if (decision.stands)
      return { decided: Promise.resolve(decision.events as unknown as Events), stored }
    const decided = new Promise<Events>((resolve, reject) => {
      decision.decided = resolve as unknown as (events: Decided) => void
      stored.catch(reject)
    })
    decided.catch(ignored)
    return { decided, stored }
  }

  /**
   * Decides on a stream and stores what comes of it.
   * @throws what `decide` throws; EventMisfit; AppendTooLarge; StoreUnavailable; UnreadableEvent;
   * RevisionConflict when outrun too often.
   */
  const transact = <State, Table extends EventTable, Events extends readonly EventOf<Table>[]>(
    stream: Stream<State, Table>,
    decide: (state: State) => Events,
    call: Call,
  ): Promise<Transacted<State, Events>> =>
    new Promise((resolve, reject) => {
      const decision = pending(decide, call)
      decision.stored = resolve as unknown as PendingDecision['stored']
      decision.refused = reject
      wait(stream, decision)
    })

  /**
   * The stream to its end, with every decision made on it before this call. Where other processes
   * write too, it includes what they had stored by the time of the call.
   * @throws StoreUnavailable, UnreadableEvent
   */
  const load = <State, Table extends EventTable>(
    stream: Stream<State, Table>,
  ): Promise<Loaded<State>> => {
    const loading = deferred<Loaded<State>>()
    const any = stream as unknown as AnyStream
    const cached = cache.of(any)
    cached.loads.push({
      loaded(result) {
        if (cached.unreadable && !stream.despiteUnreadable) loading.reject(cached.unreadable)
        else loading.resolve(result as Loaded<State>)
      },
      refused: loading.reject,
    })
    served(any, cached)
    return loading.promise
  }

  return { load, transact, begin: beginDecision }
}

export type Transactor = ReturnType<typeof transactor>
export type Load = Transactor['load']
export type Transact = Transactor['transact']
/** For those that read streams and decide on them. */
export type Streams = Pick<Transactor, 'load' | 'transact'>
