import { LRUCache } from 'lru-cache'
import { v5 as uuidOf } from 'uuid'
import { decoder } from './codec.ts'
import type { EventOf, EventTable, Stream } from './domain/aggregate.ts'
import { evolved } from './domain/aggregate.ts'
import { type Call, metadataOf } from './ports/call.ts'
import type { Clock } from './ports/clock.ts'
import { type EventStore, RevisionConflict } from './ports/event-store.ts'
import type { Snapshots } from './ports/snapshots.ts'

const maxAttempts = 5
const namespace = '6f1d3c1e-55a1-4c0b-9a55-3d2f7f0c1b7e'
/** A stream read cold over more events than this leaves a snapshot behind. */
const snapshotEvery = 500

/** What a decision came to, stored: its events, the state after them, their last position. */
export type Transacted<State, Decided> = { events: Decided; state: State; position: number }

type Waiting = {
  decide: (state: never) => readonly { type: string; data: unknown }[]
  call: Call
  decided: (events: readonly { type: string; data: unknown }[]) => void
  stored: (result: Transacted<never, never>) => void
  refused: (error: unknown) => void
}

/** One stream's state as last read or written here, and who waits to decide on it. */
type Desk = { state: unknown; revision: number; position: number; waiting: Waiting[]; busy: boolean }

type Options = { store: EventStore; snapshots: Snapshots; clock: Clock; desks?: number }

/**
 * Read → fold → decide → append. States are kept by revision, so one more decision costs the same
 * on a long stream as on a short one. While an append to a stream is under way, further decisions
 * on it wait and are then decided in order and appended together: a busy stream costs one append
 * per round trip, and no decision is ever made on a state that is not stored. When another process
 * was faster, everything in that append is decided again on what it wrote.
 */
export const transactor = ({ store, snapshots, clock, desks: max = 20_000 }: Options) => {
  const idle = new LRUCache<string, Desk>({ max })
  const active = new Map<string, Desk>()

  const load = async (stream: Stream<unknown, EventTable>, known?: Desk) => {
    const { aggregate, name } = stream
    const version = aggregate.stateVersion ?? 1
    let { state, revision, position } = known ?? {
      state: aggregate.initial as unknown,
      revision: -1,
      position: -1,
    }
    if (!known) {
      const snapshot = await snapshots.get(name)
      if (snapshot?.version === version) ({ state, revision } = snapshot)
    }
    const decode = decoder(aggregate.events)
    let read = 0
    for await (const batch of store.read(name, revision + 1))
      for (const recorded of batch) {
        const event = decode(recorded)
        state = evolved(aggregate, state, [event as EventOf<EventTable>])
        revision = recorded.revision
        position = recorded.position
        read++
      }
    if (read > snapshotEvery) await snapshots.put(name, { revision, version, state })
    return { state, revision, position }
  }

  const stamped = (name: string, revision: number, { call }: Waiting, decided: readonly { type: string; data: unknown }[]) =>
    decided.map(({ type, data }, n) => ({
      id: call.scope ? uuidOf(`${call.scope}/${name}/${n}`, namespace) : clock.id(),
      type,
      data,
      metadata: metadataOf(call, 1),
    }))

  /** Decides for everyone who waits, in order, and appends it all; refusals leave at once. */
  const round = async (stream: Stream<unknown, EventTable>, desk: Desk) => {
    const { aggregate, name } = stream
    const batch = desk.waiting
    desk.waiting = []
    for (let attempt = 1; ; attempt++) {
      let { state } = desk
      const events = []
      const accepted: { one: Waiting; decided: readonly unknown[]; state: unknown }[] = []
      for (const one of batch.splice(0)) {
        try {
          const decided = one.decide(state as never)
          state = evolved(aggregate, state, decided as EventOf<EventTable>[])
          events.push(...stamped(name, desk.revision, one, decided))
          accepted.push({ one, decided, state })
        } catch (error) {
          one.refused(error)
        }
      }
      for (const { one, decided } of accepted) one.decided(decided as never)
      try {
        if (events.length > 0) {
          const { revision, position } = await store.append(name, desk.revision, events)
          Object.assign(desk, { state, revision, position })
        }
        for (const { one, decided, state } of accepted)
          one.stored({ events: decided, state, position: desk.position } as never)
        return
      } catch (error) {
        batch.push(...accepted.map(({ one }) => one))
        if (!(error instanceof RevisionConflict) || attempt === maxAttempts) {
          for (const one of batch) one.refused(error)
          throw error
        }
        Object.assign(desk, await load(stream, desk))
      }
    }
  }

  const serve = async (stream: Stream<unknown, EventTable>, desk: Desk) => {
    desk.busy = true
    active.set(stream.name, desk)
    try {
      if (desk.revision === -1 && desk.position === -1) Object.assign(desk, await load(stream))
      while (desk.waiting.length > 0) await round(stream, desk)
      idle.set(stream.name, desk)
    } catch (error) {
      idle.delete(stream.name)
      for (const { refused } of desk.waiting.splice(0)) refused(error)
    } finally {
      desk.busy = false
      active.delete(stream.name)
    }
  }
  return serve
}
