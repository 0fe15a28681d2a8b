import { setTimeout as pause } from 'node:timers/promises'
import {
  type Position as AllPosition,
  type AllStreamSubscription,
  type EventStoreDBClient,
  type ReadPosition,
  START as startOfAll,
  streamNameFilter,
} from '@eventstore/db-client'
import type { Position } from '../../domain/event.ts'
import { type LogBatch, StoreDamaged, StoreUnavailable } from '../../ports/event-store.ts'
import { backOff } from '../../support/back-off.ts'
import { batches, buffered } from './batches.ts'
import type { Clients } from './clients.ts'
import { isCutOff, isOutage, portError } from './errors.ts'
import { fromPosition, placeOf, type Resolved } from './events.ts'
import type { Namespace } from './namespace.ts'
import type { OwnEvents } from './own-events.ts'

/** Told when a feed lost its subscription, why, and how long it waits before the next. */
export type OnDropped = (error: Error, waitMs: number) => void

/** How many events the server looks at before it says how far it is. */
const checkpointEvery = 512

/** How often a feed without events of ours says how far it is, at most. */
const tellEveryMs = 1_000

/** At most 1 s, less a random share of up to one half. */
const pauseMs = (failures: number): number => backOff(failures, 1_000) * (1 - Math.random() / 2)

type Options = {
  clients: Clients
  namespace: Namespace
  ours: OwnEvents
  ending: AbortSignal
  onDropped?: OnDropped | undefined
  /** Told that there is nothing of ours after an event and before where the server is. */
  onPassed: (last: Position, position: Position) => void
}

/** A checkpoint takes its place among the events: all that came before it is read before it. */
const checkpointReached = async (subscription: AllStreamSubscription, checkpoint: AllPosition) => {
  subscription.push({ commitPosition: checkpoint.commit, checkpoint })
}

/** Where the next subscription resumes. A checkpoint's two numbers need not be the same. */
const after = (item: Resolved & { checkpoint?: AllPosition }): AllPosition | undefined =>
  item.event?.position ?? item.checkpoint

const isBefore = (position: ReadPosition, other: AllPosition): boolean =>
  typeof position === 'string' ||
  position.commit < other.commit ||
  (position.commit === other.commit && position.prepare < other.prepare)

/** Whether a place is one that the server goes on from when it is given as one number. */
const isPosition = (place: AllPosition | undefined): boolean =>
  place !== undefined && place.commit === place.prepare

/** Where to go on when the server refuses a place. */
const retreat = (refused: ReadPosition, last: Position): ReadPosition => {
  const known = fromPosition(last)
  if (typeof refused === 'string' || typeof known === 'string') return startOfAll
  return isBefore(known, refused) ? known : startOfAll
}

const subscribed = (client: EventStoreDBClient, namespace: Namespace, from: ReadPosition) => {
  const filter = streamNameFilter({
    prefixes: [namespace.prefix],
    maxSearchWindow: checkpointEvery,
    checkpointReached,
  })
  return client.subscribeToAll({ fromPosition: from, filter }, buffered)
}

/**
 * Our part of $all after a position until the signal aborts. Beside other writers, batches without
 * events report progress. A new subscription resumes after the last one's checkpoint or, if the
 * server refuses that, after our last event or from the beginning. @throws StoreDamaged only
 */
export async function* resubscribing(
  start: Position,
  { clients, namespace, ours, ending, onDropped, onPassed }: Options,
): AsyncGenerator<LogBatch, void> {
  let last = start
  let from = fromPosition(start)
  let failures = 0
  let reportedAt = performance.now()
  while (!ending.aborted) {
    let lost: Error
    const client = clients.current()
    const source = subscribed(client, namespace, from)
    source.once('confirmation', () => {
      failures = 0
    })
    try {
      for await (const batch of batches(source, () => source.unsubscribe(), ending)) {
        const events = ours(batch).filter(({ position }) => position > last)
        last = events.at(-1)?.position ?? last
        const end = batch.at(-1)
        const passed = end && after(end)
        if (passed && isBefore(from, passed)) from = passed
        onPassed(last, placeOf(end))
        const quiet = events.length === 0
        if (quiet && (!isPosition(passed) || performance.now() - reportedAt < tellEveryMs)) continue
        reportedAt = performance.now()
        yield { events, position: quiet ? placeOf(end) : last }
      }
      lost = new StoreUnavailable('EventStoreDB: the server ended the subscription')
    } catch (error) {
      if (error instanceof StoreDamaged) throw error
      if (isCutOff(error)) clients.replace(client)
      else if (!isOutage(error)) from = retreat(from, last)
      lost = portError(error)
    }
    if (ending.aborted) return
    const waitMs = pauseMs(failures++)
    onDropped?.(lost, waitMs)
    await pause(waitMs, undefined, { signal: ending }).catch(() => undefined)
  }
}
