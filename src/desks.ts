import { LRUCache } from 'lru-cache'
import { decoder } from './codec.ts'
import { type EventOf, type EventTable, evolved, type Stream } from './domain/aggregate.ts'
import type { Call } from './ports/call.ts'
import type { EventStore } from './ports/event-store.ts'
import type { Snapshots } from './ports/snapshots.ts'

export type AnyStream = Stream<unknown, EventTable>
export type Decided = readonly { type: string; data: unknown }[]

/** A decision that is stored: its events, the state after them, and their last position. */
export type Transacted<State, Events> = { events: Events; state: State; position: number }

/** One who waits to decide on a stream. */
export type Waiting = {
  decide(state: unknown): Decided
  call: Call
  decided(events: Decided): void
  stored(result: Transacted<unknown, Decided>): void
  refused(error: unknown): void
}

/** One stream as last read or written here (`revision` -1: not yet), and who waits to decide on it. */
export type Desk = {
  state: unknown
  revision: number
  position: number
  waiting: Waiting[]
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

/** What a desk takes besides its state. */
const bareDesk = 500

/**
 * Streams' states by revision: those being decided on, and as many others as there is room for. The
 * cost of one more decision does not grow with the length of its stream.
 */
export const desks = ({ store, snapshots, keep }: Options) => {
  const kept = new LRUCache<string, Desk>({ maxSize: keep })
  const active = new Map<string, Desk>()

  return {
    of({ aggregate, name }: AnyStream): Desk {
      const known = active.get(name) ?? kept.get(name)
      const { initial: state } = aggregate
      return known ?? { state, revision: -1, position: -1, waiting: [], busy: false }
    },

    /** Brings a desk up to the stream's end; a new desk starts from a snapshot where there is one. */
    async catchUp({ aggregate, name }: AnyStream, desk: Desk): Promise<void> {
      const version = aggregate.stateVersion ?? 1
      let { state, revision, position } = desk
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
      Object.assign(desk, { state, revision, position })
      if (revision - start > snapshotAfter) await snapshots.put(name, { revision, version, state })
    },

    /** What the desk holds is not known to be the stream's end; it is read before it is used. */
    forget({ aggregate }: AnyStream, desk: Desk): void {
      Object.assign(desk, { state: aggregate.initial, revision: -1, position: -1 })
    },

    /** From here on whoever comes finds this desk. */
    open({ name }: AnyStream, desk: Desk): void {
      desk.busy = true
      active.set(name, desk)
    },

    /** Nobody waits any more: the desk is kept while there is room. */
    shelve({ aggregate, name }: AnyStream, desk: Desk): void {
      desk.busy = false
      active.delete(name)
      kept.set(name, desk, { size: bareDesk + (aggregate.weigh?.(desk.state) ?? 0) })
    },
  }
}
