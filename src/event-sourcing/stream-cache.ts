import { LRUCache } from 'lru-cache'
import { type EventOf, type EventTable, evolved, type Stream } from '../domain/aggregate.ts'
import type { Call } from '../ports/call.ts'
import type { EventStore } from '../ports/event-store.ts'
import type { Snapshots } from '../ports/snapshots.ts'
import { decoder } from './codec.ts'

export type AnyStream = Stream<unknown, EventTable>
export type Decided = readonly { type: string; data: unknown }[]

/** A decision that is stored: its events, the state after them, and their last position. */
export type Transacted<State, Events> = { events: Events; state: State; position: number }

/** A decision that waits for its stream. */
export type PendingDecision = {
  decide(state: unknown): Decided
  call: Call
  decided(events: Decided): void
  stored(result: Transacted<unknown, Decided>): void
  refused(error: unknown): void
}

/** One stream as last read or written here (`revision` -1: not yet), and its pending decisions. */
export type CachedStream = {
  state: unknown
  revision: number
  position: number
  waiting: PendingDecision[]
  busy: boolean
}

type Options = {
  store: Pick<EventStore, 'read'>
  snapshots: Snapshots
  /** How much of idle streams' states is kept in memory, in characters (`Aggregate.weigh`). */
  keep: number
}

/** A cold read over more events than this leaves a snapshot behind. */
const snapshotAfter = 500

/** The size of a cached stream besides its state, in characters. */
const bareStream = 500

/**
 * Streams' states by revision: those being decided on, and as many others as there is room for. The
 * cost of one more decision does not grow with the length of its stream.
 */
export const streamCache = ({ store, snapshots, keep }: Options) => {
  const kept = new LRUCache<string, CachedStream>({ maxSize: keep })
  const active = new Map<string, CachedStream>()

  return {
    of({ aggregate, name }: AnyStream): CachedStream {
      const known = active.get(name) ?? kept.get(name)
      const { initial: state } = aggregate
      return known ?? { state, revision: -1, position: -1, waiting: [], busy: false }
    },

    /** Reads a stream to its end. A stream that is new here starts from its snapshot, if any. */
    async catchUp({ aggregate, name }: AnyStream, cached: CachedStream): Promise<void> {
      const version = aggregate.stateVersion ?? 1
      let { state, revision, position } = cached
      if (revision === -1) {
        const snapshot = await snapshots.get(name)
        if (snapshot?.version === version) ({ state, revision } = snapshot)
      }
      const start = revision
      const decode = decoder(aggregate.events)
      for await (const batch of store.read(name, revision + 1)) {
        state = evolved(aggregate, state, batch.map(decode) as readonly EventOf<EventTable>[])
        const last = batch.at(-1)
        if (last) ({ revision, position } = last)
      }
      Object.assign(cached, { state, revision, position })
      if (revision - start > snapshotAfter) await snapshots.put(name, { revision, version, state })
    },

    /** Drops a state that may be outdated: the stream is read again before it is used. */
    forget({ aggregate }: AnyStream, cached: CachedStream): void {
      Object.assign(cached, { state: aggregate.initial, revision: -1, position: -1 })
    },

    /** Keeps a stream in the cache while decisions on it are under way. */
    activate({ name }: AnyStream, cached: CachedStream): void {
      cached.busy = true
      active.set(name, cached)
    },

    /** No decision waits any more: the stream stays cached while there is room. */
    release({ aggregate, name }: AnyStream, cached: CachedStream): void {
      cached.busy = false
      active.delete(name)
      kept.set(name, cached, { size: bareStream + (aggregate.weigh?.(cached.state) ?? 0) })
    },
  }
}
