import type { Readable } from 'node:stream'
import { setImmediate as macrotask } from 'node:timers/promises'

/** The most events in one batch, and the most that wait for a reader who is busy. */
const most = 256

/** How often a batch waits for what the next turn of the event loop brings. */
const turns = 2

/** For the client's streams, so that `batches` has something to gather. */
export const buffered = { highWaterMark: most }

const nothing = () => undefined

/** Adds what a stream has ready, up to the most that a batch holds. */
const fill = <Event>(batch: Event[], source: Readable): void => {
  while (batch.length < most) {
    const next: Event | null = source.read()
    if (next === null) return
    batch.push(next)
  }
}

/**
 * What one of the client's streams has ready, soon after it has anything. Cancels the call when the
 * reader leaves.
 *
 * The client hands over events one by one, so a batch stays open for two turns of the event loop:
 * what came with its first event is in it.
 *
 * The client's streams are never destroyed, as iterating over them would do: what the call beneath
 * has received by then would stay unread for ever, and the client waits for its end to dispose.
 * @throws what the stream fails with; the signal's reason when it aborts first
 */
export async function* batches<Event>(
  source: Readable & AsyncIterable<Event>,
  cancel: () => Promise<void>,
  signal: AbortSignal,
): AsyncGenerator<[Event, ...Event[]], void> {
  let over = false
  let failure: Error | undefined
  let wake: () => void = nothing
  const turn = () => wake()
  const end = (error?: Error) => {
    over = true
    failure ??= error
    wake()
  }
  source.on('readable', turn).on('end', end).on('error', end)
  signal.addEventListener('abort', turn)
  try {
    while (!signal.aborted) {
      const first: Event | null = source.read()
      if (first !== null) {
        const batch: [Event, ...Event[]] = [first]
        fill(batch, source)
        for (let n = 0; n < turns && batch.length < most && !over; n++) {
          await macrotask()
          fill(batch, source)
        }
        yield batch
      } else if (failure) throw failure
      else if (over) return
      else
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
    signal.throwIfAborted()
  } finally {
    signal.removeEventListener('abort', turn)
    source.off('readable', turn).on('data', nothing)
    cancel().catch(nothing)
  }
}
