import type { Readable } from 'node:stream'

/** The most events in one batch, and the most that wait for a reader who is busy. */
const most = 256

/** For the client's streams, so that `batches` has something to gather. */
export const buffered = { highWaterMark: most }

/**
 * What one of the client's streams has ready, as soon as it has anything. Ends when the reader
 * leaves or the signal aborts (then by a throw, as a stream that is cut short does), and lets the
 * server know: leaving the iteration alone would keep the call open.
 */
export async function* batches<Event>(
  source: Readable & AsyncIterable<Event>,
  cancel: () => Promise<void>,
  signal: AbortSignal,
): AsyncGenerator<[Event, ...Event[]], void> {
  const stop = () => source.destroy()
  signal.addEventListener('abort', stop)
  // The client also tells of errors when nobody reads any more.
  source.on('error', () => undefined)
  try {
    for await (const first of source) {
      const batch: [Event, ...Event[]] = [first]
      for (let next = source.read(); next !== null; next = source.read())
        if (batch.push(next) === most) break
      yield batch
    }
  } finally {
    signal.removeEventListener('abort', stop)
    void cancel().catch(() => undefined)
  }
}
