import { LRUCache } from 'lru-cache'
import { type EventOf, type EventTable, evolved, type Stream } from '../domain/aggregate.ts'
import type { Position } from '../domain/event.ts'
import type { Call } from '../ports/call.ts'
import {
  type EventStore,
  type RecordedEvent,
  START,
  UnreadableEvent,
} from '../ports/event-store.ts'
import type { Snapshots } from '../ports/snapshots.ts'
import { decoder } from './codec.ts'

export type AnyStream = Stream<unknown, EventTable>
export type Decided = readonly { type: string; data: unknown }[]

/** A decision that is stored: its events, the state after them, their last position, and when. */
export type Transacted<State, Events> = {
  events: Events
  state: State
  position: Position
  /** Of the stream's last event. */
  revision: number
  /** The time in its events' metadata. */
  at: string
}

/** A decision that waits for its stream, and what came of it when it was last made. */
export type PendingDecision = {
  decide(state: unknown): Decided
  call: Call
  events: Decided
  /** After its events. */
  state: unknown
  /** What `decide` threw. */
  refusal: { error: unknown } | undefined
  /** It is not made again, so others may rest on it. */
  stands: boolean
  /** Told when it stands, where that is not at once. */
  decided: ((events: Decided) => void) | undefined
  stored(result: Transacted<unknown, Decided>): void
  refused(error: unknown): void
}

/** A stream as it is: its state, and the revision and position of its last event (-1: none). */
export type Loaded<State> = { state: State; revision: number; position: Position }

/** A reader that waits for its stream. */
export type PendingLoad = { loaded(stream: Loaded<unknown>): void; refused(error: unknown): void }

/** A stream as last read or written here, and who waits for it. */
export type CachedStream = Loaded<unknown> & {
  /** False: not read yet, or what was read may be outdated. */
  known: boolean
  /** The first event that was left out of the state, as it is unreadable. */
  unreadable: UnreadableEvent | undefined
  waiting: PendingDecision[]
  /** So many of those that wait are appended one by one: together they were too large. */
  apart: number
  loads: PendingLoad[]
  /** It is being read or written. */
  busy: boolean
  /** What it is counted for in the cache, in characters. */
  size: number
}

type Options = {
  store: Pick<EventStore, 'read'>
  snapshots: Snapshots
  /** How much of idle streams' states is kept in memory, in characters (`Aggregate.weigh`). */
  keep: number
}

/** A cold read over more events than this leaves a snapshot behind. */
const snapshotAfter = 500

/**
 * A snapshot is written and read in one go, so a larger state has none: its events are read again,
 * a batch at a time. In characters.
 */
const largestSnapshot = 1_000_000

/** The size of a cached stream besides its state, in characters. */
const bareStream = 500

/** Takes the decisions to be made next. */
export const takeBatch = (cached: CachedStream): readonly PendingDecision[] => {
  const { waiting } = cached
  if (cached.apart > 0) {
    cached.apart--
    return waiting.splice(0, 1)
  }
  cached.waiting = []
  return waiting
}

/** Decisions that are to be made again one by one, before all others; `loads` came after them. */
export const apart = (
  cached: CachedStream,
  decisions: readonly PendingDecision[],
  loads: readonly PendingLoad[],
): void => {
  cached.waiting = [...decisions, ...cached.waiting]
  cached.apart += decisions.length
  cached.loads = [...loads, ...cached.loads]
}

/** Takes the readers to be answered next: none before the decisions that waited with them. */
export const takeLoads = (cached: CachedStream): readonly PendingLoad[] => {
  const { loads, apart } = cached
  if (apart > 0) return []
  cached.loads = []
  return loads
}

/** Folds stored events; reports and skips those that are unreadable. @throws UnknownEvent */
const foldingPast = (
  aggregate: AnyStream['aggregate'],
  onUnreadable: (error: UnreadableEvent) => void,
) => {
  const decode = decoder(aggregate.events)
  let isComplete = true
  const leftOut = (error: unknown): void => {
    if (!(error instanceof UnreadableEvent)) throw error
    isComplete = false
    onUnreadable(error)
  }
  return (before: unknown, events: readonly RecordedEvent[]): unknown => {
    let state = before
    for (const event of events)
      try {
        state = evolved(aggregate, state, [decode(event) as EventOf<EventTable>])
      } catch (error) {
        // An event that depends on a skipped event may fail to fold.
        if (isComplete || error instanceof UnreadableEvent) leftOut(error)
      }
    return state
  }
}

const weightOf = ({ weigh }: AnyStream['aggregate'], state: unknown): number => weigh?.(state) ?? 0

/**
 * Streams' states by revision: those being decided on, and those used last while there is room. One
 * more decision costs the same on a stream of any length.
 */
export const streamCache = ({ store, snapshots, keep }: Options) => {
  /** Evicted while busy: a stream is one object until nothing waits for it. */
  const pinned = new Map<string, CachedStream>()
  const streams = new LRUCache<string, CachedStream>({
    maxSize: keep,
    dispose: (stream, name) => {
      if (stream.busy) pinned.set(name, stream)
    },
  })

  const unread = ({ aggregate: { initial } }: AnyStream) => ({
    state: initial,
    revision: -1,
    position: START,
    known: false,
    unreadable: undefined,
  })

  const catchUp = async ({ aggregate, name }: AnyStream, cached: CachedStream): Promise<void> => {
    const version = aggregate.stateVersion ?? 1
    let { state, revision, position } = cached
    if (!cached.known) {
      const snapshot = await snapshots.get(name)
      if (snapshot?.version === version) ({ state, revision } = snapshot)
    }
    const start = revision
    let { unreadable } = cached
    const fold = foldingPast(aggregate, (error) => {
      unreadable ??= error
    })
    // A snapshot has no position: its last event is read again for it.
    const from = revision >= 0 && position === START ? revision : revision + 1
    for await (const batch of store.read(name, from)) {
      state = fold(
        state,
        batch.filter((event) => event.revision > start),
      )
      const last = batch.at(-1)
      if (last) ({ revision, position } = last)
    }
    Object.assign(cached, { state, revision, position, known: true, unreadable })
    const isDue = revision - start > snapshotAfter && !unreadable
    if (isDue && weightOf(aggregate, state) <= largestSnapshot)
      await snapshots.put(name, { revision, version, state })
  }

  return {
    of({ aggregate, name, isNew = false }: AnyStream): CachedStream {
      const known = streams.get(name) ?? pinned.get(name)
      if (known) return known
      const cached: CachedStream = {
        state: aggregate.initial,
        revision: -1,
        position: START,
        known: isNew,
        unreadable: undefined,
        waiting: [],
        apart: 0,
        loads: [],
        busy: false,
        size: bareStream,
      }
      streams.set(name, cached, { size: bareStream })
      return cached
    },

    /**
     * Reads a stream to its end; one that is not known starts from its snapshot, if any. Answers
     * what went wrong.
     */
    caughtUp: (stream: AnyStream, cached: CachedStream): Promise<unknown> =>
      catchUp(stream, cached).then(
        () => undefined,
        (error: unknown) => error,
      ),

    /** Drops a state that may be outdated: the stream is read again before it is used. */
    forget(stream: AnyStream, cached: CachedStream): void {
      Object.assign(cached, unread(stream))
    },

    /** Nothing waits for the stream any more: it stays cached while there is room. */
    release({ aggregate, name }: AnyStream, cached: CachedStream): void {
      cached.busy = false
      const size = bareStream + weightOf(aggregate, cached.state)
      if (!pinned.delete(name) && size === cached.size) return
      cached.size = size
      // Set over itself, a value would keep its size of before.
      streams.delete(name)
      streams.set(name, cached, { size })
    },
  }
}

export type StreamCache = ReturnType<typeof streamCache>
