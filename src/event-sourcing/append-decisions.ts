import type { Clock } from '../ports/clock.ts'
import {
  type Appended,
  AppendTooLarge,
  type EventStore,
  RevisionConflict,
} from '../ports/event-store.ts'
import type { Log } from '../ports/log.ts'
import type { AppendTimes } from './append-times.ts'
import { accepted, decisionsMade, isIdle } from './decide-all.ts'
import {
  type AnyStream,
  apart,
  type CachedStream,
  type PendingDecision,
  type PendingLoad,
  type StreamCache,
  takeBatch,
  takeLoads,
} from './stream-cache.ts'
import type { WatchedAppends } from './watched-appends.ts'

const maxAttempts = 8
const none: readonly PendingDecision[] = []

type Options = {
  store: Pick<EventStore, 'append'>
  cache: StreamCache
  clock: Pick<Clock, 'id'>
  times: Pick<AppendTimes, 'stamp' | 'began' | 'ended'>
  appends: Pick<WatchedAppends, 'stored' | 'failed'>
  log: Pick<Log, 'error'>
  /** Other processes write to the store too. */
  shared: boolean
}

const refuseAll = (
  waiting: readonly Pick<PendingDecision, 'refused'>[],
  failure: unknown,
): undefined => {
  for (const decision of waiting) decision.refused(failure)
}

const stand = (batch: readonly PendingDecision[]): void => {
  for (const decision of batch) {
    decision.stands = true
    decision.decided?.(decision.events)
  }
}

/** Resolves decisions whose events are stored, and are the last of the stream. */
const tellStored = (batch: readonly PendingDecision[], cached: CachedStream, at: string): void => {
  const last = batch.at(-1)
  if (last) cached.state = last.state
  const { position, revision } = cached
  for (const { stored, events, state } of batch) stored({ events, state, position, revision, at })
}

/**
 * What serves a stream: makes the decisions that wait for it, appends their events, answers its
 * readers.
 */
export const appendDecisions = (options: Options) => {
  const { store, cache, clock, times, appends, log, shared } = options
  const { decideAll } = decisionsMade(clock)

  /** Reads a stream to its end before decisions are made; else they are refused. */
  const isReadFor = async (
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

  /** `fresh`: the stream was read to its end after these loads were asked for. */
  const answer = async (
    stream: AnyStream,
    cached: CachedStream,
    loads: readonly PendingLoad[],
    fresh: boolean,
  ): Promise<void> => {
    const current = cached.known && (fresh || !shared)
    const failure = current ? undefined : await cache.caughtUp(stream, cached)
    if (failure) return refuseAll(loads, failure)
    const { state, revision, position } = cached
    for (const { loaded } of loads) loaded({ state, revision, position })
  }

  /** Appends events at the stream's last revision. */
  const append = async (
    stream: AnyStream,
    cached: CachedStream,
    events: Parameters<EventStore['append']>[2],
    at: string,
  ): Promise<{ failure: unknown } | undefined> => {
    let appending: Promise<Appended> | undefined
    try {
      appending = store.append(stream.name, cached.revision, events)
      times.began(appending)
      const { revision, position } = await appending
      cached.revision = revision
      cached.position = position
      appends.stored()
      return undefined
    } catch (failure) {
      appends.failed(failure, at)
      return { failure }
    } finally {
      if (appending) times.ended(appending)
    }
  }

  /** `retry`: the events are decided again, on what another process wrote. */
  type Next = 'retry' | 'one by one' | 'refused'

  /** What becomes of a batch that was not stored. */
  const afterFailure = (
    stream: AnyStream,
    cached: CachedStream,
    batch: readonly PendingDecision[],
    failure: unknown,
    isLast: boolean,
  ): Next => {
    // Together they are too large for one append; one at a time they may not be.
    if (failure instanceof AppendTooLarge && batch.length > 1) return 'one by one'
    if (failure instanceof RevisionConflict && !isLast) return 'retry'
    cache.forget(stream, cached)
    refuseAll(batch, failure)
    return 'refused'
  }

  /**
   * Decides a batch in order and stores it with one append. Where the store is shared, no refusal
   * and no decision without events goes out before the stream is read to its end. When another
   * process was faster, all decisions are made again on what it wrote. Resolves with the decisions
   * that are to be made one by one.
   */
  const decideBatch = async (
    stream: AnyStream,
    cached: CachedStream,
    decisions: readonly PendingDecision[],
    isRead: boolean,
  ): Promise<readonly PendingDecision[]> => {
    let batch = decisions
    let current = isRead
    for (let attempt = 1; batch.length > 0; attempt++) {
      const at = times.stamp()
      const events = decideAll(stream, cached, batch, at)
      if (!current && batch.some(isIdle)) {
        if (!(await isReadFor(batch, stream, cached))) return none
        current = true
        continue
      }
      batch = accepted(batch, log)
      // Where others write too, a decision may have to be made again until it is stored.
      if (!shared) stand(batch)
      const failed = events.length > 0 ? await append(stream, cached, events, at) : undefined
      if (!failed) {
        if (shared) stand(batch)
        tellStored(batch, cached, at)
        return none
      }
      const isLast = attempt >= maxAttempts
      const next = afterFailure(stream, cached, batch, failed.failure, isLast)
      if (next === 'one by one') return batch
      if (next === 'refused' || !(await isReadFor(batch, stream, cached))) return none
      current = true
    }
    return none
  }

  /** Decides and answers until nothing waits for the stream. */
  return async (stream: AnyStream, cached: CachedStream): Promise<void> => {
    cached.busy = true
    while (cached.waiting.length > 0 || cached.loads.length > 0) {
      const loads = takeLoads(cached)
      const cold = !cached.known
      const unread = cold ? await cache.caughtUp(stream, cached) : undefined
      const batch = takeBatch(cached)
      if (unread !== undefined) {
        refuseAll(batch, unread)
        refuseAll(loads, unread)
        continue
      }
      const left = await decideBatch(stream, cached, batch, cold || !shared)
      if (left.length > 0) apart(cached, left, loads)
      else if (loads.length > 0) await answer(stream, cached, loads, cold)
    }
    cache.release(stream, cached)
  }
}
