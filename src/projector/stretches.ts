import type { Position } from '../domain/event.ts'
import { type EventStore, type LogBatch, type RecordedEvent, START } from '../ports/event-store.ts'

/** Events folded together while the end of the log is far. */
const stretch = 4_000
/** Roughly a stretch of the log: nearer than this, its end is folded as it comes. */
const usual = { events: 2 * stretch, bytes: 16 * 1024 * 1024 } as const
/** Where events were gathered, all of them are folded together. */
const none = { events: 0, bytes: 0 } as const
/** A smaller batch is the end of the log, or nearly so. */
const large = 500

/** `more`: the end of the log is still far behind the batch. */
export type Stretch = LogBatch & { more: boolean }

type Log = Pick<EventStore, 'feed' | 'head' | 'distance'>

/**
 * The feed after a position. While the end of the log is far, its batches are joined: a document is
 * then loaded and folded once for more events. What is held is at most a stretch and a batch of the
 * feed. `gathered`: batches are joined up to the end of the log.
 */
export async function* stretches(
  { feed, head, distance }: Log,
  after: Position,
  signal: AbortSignal,
  gathered = false,
): AsyncGenerator<Stretch> {
  const far = gathered ? none : usual
  let end: Position = START
  const isFar = async (position: Position): Promise<boolean> => {
    const left = distance(position, end)
    if (left.amount > far[left.unit]) return true
    end = await head()
    const now = distance(position, end)
    return now.amount > far[now.unit]
  }
  let held: RecordedEvent[] = []
  for await (const { events, position } of feed(after, signal)) {
    const more = events.length >= large && (await isFar(position))
    if (!more && held.length === 0) {
      yield { events, position, more }
      continue
    }
    for (const event of events) held.push(event)
    if (more && held.length < stretch) continue
    yield { events: held, position, more }
    held = []
  }
}
