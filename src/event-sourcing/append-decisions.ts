import { v5 as uuidOf } from 'uuid'
import { type EventOf, type EventTable, evolved } from '../domain/aggregate.ts'
import { schemaVersionOf } from '../domain/versions.ts'
import { type Call, metadataOf } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'
import {
  AppendTooLarge,
  type EventStore,
  type NewEvent,
  RevisionConflict,
} from '../ports/event-store.ts'
import type { AppendTimes } from './append-times.ts'
import type {
  AnyStream,
  CachedStream,
  Decided,
  PendingDecision,
  StreamCache,
} from './stream-cache.ts'

const maxAttempts = 8
const namespace = '6f1d3c1e-55a1-4c0b-9a55-3d2f7f0c1b7e'

type Options = {
  store: Pick<EventStore, 'append'>
  cache: StreamCache
  clock: Pick<Clock, 'id'>
  times: Pick<AppendTimes, 'stamp' | 'during'>
  /** Other processes write to the store too. */
  shared: boolean
}

/** A decision on the state that the ones before it leave. */
type Accepted = { one: PendingDecision; events: Decided; state: unknown }

/** What makes the decisions that wait for a stream, and appends their events. */
export const appendDecisions = ({ store, cache, clock, times, shared }: Options) => {
  /** Events of a call with a scope have the same ids when the call is made again. */
  const stamped = (
    name: string,
    revision: number,
    { call, at }: { call: Call; at: string },
    events: Decided,
  ): NewEvent[] => {
    const metadata = metadataOf(call, 1, at)
    return events.map(({ type, data }, n) => {
      const version = schemaVersionOf(type)
      return {
        id: call.scope
          ? uuidOf(`${call.scope}/${name}/${revision + 1 + n}`, namespace)
          : clock.id(),
        type,
        data,
        metadata: version === 1 ? metadata : { ...metadata, schema_version: version },
        decided: true,
      }
    })
  }

  /** Makes each decision on the state that the ones before it leave. Stores nothing. */
  const decideAll = (
    { aggregate, name }: AnyStream,
    cached: CachedStream,
    batch: readonly PendingDecision[],
  ) => {
    let { state } = cached
    const at = times.stamp()
    const events: NewEvent[] = []
    const accepted: Accepted[] = []
    const refused: { one: PendingDecision; error: unknown }[] = []
    for (const one of batch) {
      try {
        const decided = one.decide(state)
        state = evolved(aggregate, state, decided as readonly EventOf<EventTable>[])
        const { call } = one
        for (const event of stamped(name, cached.revision + events.length, { call, at }, decided))
          events.push(event)
        accepted.push({ one, events: decided, state })
      } catch (error) {
        refused.push({ one, error })
      }
    }
    return { state, events, accepted, refused, at }
  }

  const refuseAll = (batch: readonly PendingDecision[], failure: unknown): void => {
    for (const one of batch) one.refused(failure)
  }

  /** Reads a stream to its end before decisions are made; false: it could not be read. */
  const readFor = async (
    batch: readonly PendingDecision[],
    stream: AnyStream,
    cached: CachedStream,
  ): Promise<boolean> => {
    const failure = await cache.caughtUp(stream, cached)
    if (failure === undefined) return true
    cache.forget(stream, cached)
    refuseAll(batch, failure)
    return false
  }

  /**
   * Makes decisions in order and stores all their events with one append. `fresh`: the stream was
   * read to its end after they were asked for. Otherwise, where the store is shared, no refusal and
   * no decision without events goes out before the stream is read to its end. When another process
   * was faster, all are made again on what it wrote.
   */
  const decideAndAppend = async (
    stream: AnyStream,
    cached: CachedStream,
    waiting: readonly PendingDecision[],
    fresh: boolean,
  ): Promise<void> => {
    let batch = waiting
    let current = !cached.known || fresh || !shared
    if (!cached.known && !(await readFor(batch, stream, cached))) return
    for (let attempt = 1; ; attempt++) {
      const { state, events, accepted, refused, at } = decideAll(stream, cached, batch)
      const idle = accepted.some(({ events }) => events.length === 0)
      if (!current && (refused.length > 0 || idle)) {
        if (!(await readFor(batch, stream, cached))) return
        current = true
        continue
      }
      for (const { one, error } of refused) one.refused(error)
      const stand = () => {
        for (const { one, events } of accepted) one.decided(events)
      }
      // Where others write too, a decision may have to be made again until it is stored.
      if (!shared) stand()
      batch = accepted.map(({ one }) => one)
      try {
        if (events.length > 0) {
          const last = await times.during(store.append(stream.name, cached.revision, events))
          Object.assign(cached, { state, ...last })
        }
        stand()
      } catch (error) {
        if (error instanceof AppendTooLarge && batch.length > 1) {
          // Together they are too large for one append; one at a time they may not be.
          for (const one of batch) await decideAndAppend(stream, cached, [one], current)
          return
        }
        if (!(error instanceof RevisionConflict) || attempt >= maxAttempts) {
          cache.forget(stream, cached)
          refuseAll(batch, error)
          return
        }
        if (!(await readFor(batch, stream, cached))) return
        current = true
        continue
      }
      const { position, revision } = cached
      for (const { one, events, state } of accepted)
        one.stored({ events, state, position, revision, at })
      return
    }
  }
  return decideAndAppend
}
