import { KeyDestroyed, type KeyRecords, type KeyStore, type WrappedKey } from '../../ports/keys.ts'
import { dataKeyKey, dataKeyName } from './index-key.ts'
import { assertName, type EventLog } from './log.ts'

const destroyed = Buffer.alloc(0)
const recordKey = 'keys'

const isSame = (left: Uint8Array | undefined, right: Uint8Array | undefined): boolean =>
  left === undefined || right === undefined ? left === right : Buffer.compare(left, right) === 0

/**
 * Data keys, in the environment of the log. A created key is valid at once, and is written no later
 * than any later append: if a commit fails, it goes first into the next.
 */
export const embeddedKeyStore = (log: EventLog): KeyStore & KeyRecords => {
  /** Changes that are decided but not on disk yet; an empty key marks a destroyed one. */
  const waiting = new Map<string, Buffer>()

  const current = (name: string): Uint8Array | undefined =>
    waiting.get(name) ?? log.look(() => log.keys.get(dataKeyKey(name)))

  const store = async (name: string, key: Buffer, owed: boolean): Promise<void> => {
    waiting.set(name, key)
    const write = () => {
      void log.keys.put(dataKeyKey(name), key)
    }
    try {
      await log.write({ bytes: key.length, prepare: () => write, owed })
    } finally {
      if (waiting.get(name) === key) waiting.delete(name)
    }
  }

  return {
    async get(name) {
      const key = current(name)
      return key?.length ? key : undefined
    },
    async some() {
      for (const [name, key] of waiting) if (key.length > 0) return name
      return log.look(() => {
        for (const { key, value } of log.keys.getRange({}))
          if (value.length > 0) return dataKeyName(key)
        return undefined
      })
    },
    async create(name, wrapped) {
      assertName(name)
      if (wrapped.length === 0) throw new TypeError('an empty key')
      const known = current(name)
      if (known?.length === 0) throw new KeyDestroyed(name)
      if (known) return known
      log.requireRoom()
      const key = Buffer.from(wrapped)
      void store(name, key, true)
      return key
    },
    async destroy(name) {
      assertName(name)
      await store(name, destroyed, false)
    },
    async record() {
      return log.look(() => log.installation.get(recordKey))
    },
    replaceRecord(from, to) {
      const prepare = () => {
        const holds = isSame(log.installation.get(recordKey), from)
        return () => {
          if (holds) void log.installation.put(recordKey, Buffer.from(to))
          return holds
        }
      }
      return log.write({ bytes: to.length, alone: true, prepare })
    },
    async list(after, limit) {
      return log.look(() => {
        const wrappedKeys: WrappedKey[] = []
        const start = after === undefined ? undefined : dataKeyKey(after)
        for (const { key, value } of log.keys.getRange(start === undefined ? {} : { start })) {
          if (key === start) continue
          wrappedKeys.push({
            name: dataKeyName(key),
            wrapped: value.length > 0 ? value : undefined,
          })
          if (wrappedKeys.length === limit) break
        }
        return wrappedKeys
      })
    },
    async rewrap(changes) {
      const prepare = () => {
        const due = changes.filter(({ name, from }) => isSame(log.keys.get(dataKeyKey(name)), from))
        return () => {
          for (const { name, to } of due) void log.keys.put(dataKeyKey(name), Buffer.from(to))
        }
      }
      const bytes = changes.reduce((sum, { name, to }) => sum + name.length + to.length, 0)
      await log.write({ bytes, alone: true, prepare })
    },
  }
}
