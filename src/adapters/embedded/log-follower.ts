import { setImmediate } from 'node:timers/promises'
import { earliest, latest, type Position } from '../../domain/event.ts'
import type { Damage } from '../../ports/damage.ts'
import { type EventReads, StoreDamaged } from '../../ports/event-store.ts'
import type { KeyStore } from '../../ports/keys.ts'
import { condition } from './condition.ts'
import { readEnvironment } from './environment.ts'
import { eventsAt } from './events-at.ts'
import { dataKeyKey } from './index-key.ts'
import { damageFound, explaining } from './log.ts'
import { logReader } from './reader.ts'

type Options = {
  path: string
  /** The end of the log, as it was told last. */
  head: Position
  /** Called when something was found damaged. */
  onDamage(all: readonly Damage[]): void
}

/** A page that is written while it is looked at may seem damaged: so it is looked at again. */
const attempts = 3

/**
 * Reads the log that another thread of this process has open and writes to. It goes as far as it
 * was told: `announce` every new end.
 */
export const logFollower = ({ path, head: begin, onDamage }: Options) => {
  let found = damageFound()
  const environment = readEnvironment(path, (...page) => found.addPage(...page))
  const { file, root, guard, records, streams, keys } = environment
  const known = new Map<string, Damage>()
  const headMoved = condition()
  let head = begin
  let closed = false

  const damagedAt = (position: number): StoreDamaged => {
    const what = `${file}: damaged at position ${position}`
    found.add({ store: 'events', what, from: position as Position, to: position as Position })
    return new StoreDamaged(what, { position: position as Position })
  }
  const reader = logReader({ records, streams, damagedAt })

  const tell = () => {
    const before = known.size
    for (const one of found.all()) known.set(`${one.what} ${one.from}`, one)
    if (known.size > before) onDamage([...known.values()])
  }

  const look = <T>(reading: () => T): T => {
    for (let attempt = 1; ; attempt++) {
      found = damageFound()
      root.resetReadTxn()
      // Begins lmdb's own read: from here on no page that the guard may look at is written over.
      records.count()
      guard.forget()
      try {
        return explaining(reading, file)
      } catch (error) {
        if (error instanceof StoreDamaged && attempt < attempts) continue
        tell()
        throw error
      }
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
      guard.close()
    },
  }
}
