import { setTimeout as pause } from 'node:timers/promises'
import type { EventStoreDBClient } from '@eventstore/db-client'
import { type RecordedEvent, StoreDamaged, StoreUnavailable } from '../../ports/event-store.ts'
import { batches, buffered } from './batches.ts'
import { portError } from './errors.ts'
import { fromPosition, recorded, withoutSystem } from './events.ts'

/** Told when a feed lost its subscription, why, and how long it waits before the next. */
export type OnDropped = (error: Error, waitMs: number) => void

/** 50 ms, doubled by each failure in a row, 5 s at most; up to half of it taken off by chance. */
const backOff = (failures: number): number =>
  Math.min(5_000, 50 * 2 ** failures) * (1 - Math.random() / 2)

/**
 * $all after a position until the signal aborts. A subscription that dies stays dead: the next one
 * goes on after the last event that was handed over, whatever of the dead one was still buffered.
 * @throws StoreDamaged only
 */
export async function* resubscribing(
  client: EventStoreDBClient,
  after: number,
  ending: AbortSignal,
  onDropped?: OnDropped,
): AsyncGenerator<readonly RecordedEvent[], void> {
  let position = after
  let failures = 0
  while (!ending.aborted) {
    let lost: Error
    const source = client.subscribeToAll(
      { fromPosition: fromPosition(position), filter: withoutSystem },
      buffered,
    )
    source.once('confirmation', () => {
      failures = 0
    })
    try {
      for await (const batch of batches(source, () => source.unsubscribe(), ending)) {
        const events = batch.map(recorded)
        position = events.at(-1)?.position ?? position
        yield events
      }
      lost = new StoreUnavailable('EventStoreDB: the server ended the subscription')
    } catch (error) {
      if (error instanceof StoreDamaged) throw error
      lost = portError(error)
    }
    if (ending.aborted) return
    const waitMs = backOff(failures++)
    onDropped?.(lost, waitMs)
    await pause(waitMs, undefined, { signal: ending }).catch(() => undefined)
  }
}
