import { Refusal } from '../domain/refusal.ts'
import { UnreadableEvent } from '../ports/event-store.ts'
import type { Log } from '../ports/log.ts'

const isUnreadable = (error: unknown): boolean =>
  error instanceof UnreadableEvent ||
  (error instanceof Refusal && error.code === 'stream_unreadable')

/**
 * Works on one of many items. Logs and skips an item whose stream has an unreadable event.
 * @throws every other error
 */
export const skipUnreadable = async (
  log: Pick<Log, 'warn'>,
  item: Readonly<Record<string, string>>,
  work: () => Promise<unknown>,
): Promise<void> => {
  try {
    await work()
  } catch (err) {
    if (!isUnreadable(err)) throw err
    log.warn({ err, ...item }, 'left as it is: an event of its stream cannot be read')
  }
}
