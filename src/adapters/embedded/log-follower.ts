import { setImmediate } from 'node:timers/promises'
import { earliest, latest, type Position } from '../../domain/event.ts'
import type { Damage } from '../../ports/damage.ts'
import type { EventReads } from '../../ports/event-store.ts'
import type { KeyStore } from '../../ports/keys.ts'
import { condition } from './condition.ts'
import { damageFound } from './damage-found.ts'
import { environmentIn } from './environment.ts'
import { eventsAt } from './events-at.ts'
import { dataKeyKey } from './index-key.ts'
import { logReader } from './reader.ts'

type Options = {
  path: string
  /** The end of the log, as it was announced last. */
  head: Position
  /** Called when something was found damaged. */
  onDamage(all: readonly Damage[]): void
}

/**
 * Reads the log that another thread of this process has open and writes to. It goes as far as it
 * was told: `announce` every new end.
 */
export const logFollower = ({ path, head: initialHead, onDamage }: Options) => {
  const { file, root, records, streams, keys } = environmentIn(path, true)
  const damage = damageFound(file)
  const reader = logReader({ records, streams, damagedAt: damage.at })
  const headMoved = condition()
  let head = initialHead
  let closed = false
  let reportedCount = 0

  const look = <T>(reading: () => T): T => {
    // The next read begins its own transaction, and sees the latest commit.
    root.resetReadTxn()
    try {
      return reading()
    } catch (error) {
      const cause = damage.explained(error)
      const all = damage.all()
      if (all.length > reportedCount) onDamage(all)
      reportedCount = all.length
      throw cause
    }
  }

  const pages = async function* (after: Position, upTo: Position) {
    for (let position = after; position < upTo; ) {
      const events = look(() => reader.page(position, upTo))
      if (events.length > 0) yield events
      position = events.at(-1)?.position ?? upTo
      await setImmediate()
    }
  }

  const events: EventReads = {
    async *read(stream, from = 0, most = Infinity) {
      const end = from + most
      for (let next = from; next < end; ) {
        const events = look(() => reader.slice(stream, next, end - next))
        const last = events.at(-1)
        if (!last) return
        yield events
        next = last.revision + 1
        await setImmediate()
      }
    },
    history: (after, upTo = head) => pages(after, earliest(upTo, head)),
    at: eventsAt({ pages, event: (position) => look(() => reader.event(position)) }),
    async *feed(after, signal) {
      const waiter = headMoved.waiter(signal)
      let position = after
      try {
        while (!closed && !signal?.aborted) {
          const events = look(() => reader.page(position, head))
          const last = events.at(-1)
          if (!last) {
            await waiter.wait()
            continue
          }
          yield { events, position: last.position }
          position = last.position
          await setImmediate()
        }
      } finally {
        waiter.end()
      }
    },
    distance: (from, to) => ({ amount: Math.max(0, to - from), unit: 'events' }),
    head: async () => head,
    end: async () => head,
  }

  const dataKeys: Pick<KeyStore, 'get'> = {
    async get(name) {
      const key = look(() => keys.get(dataKeyKey(name)))
      return key?.length ? key : undefined
    },
  }

  return {
    events,
    keys: dataKeys,
    announce(end: Position): void {
      if (end <= head) return
      head = latest(head, end)
      headMoved.notifyAll()
    },
    async close(): Promise<void> {
      closed = true
      headMoved.notifyAll()
      await root.close()
    },
  }
}
