import { crc32 } from 'node:zlib'
import type { Key, Transaction } from 'lmdb'
import { Packr, RESERVE_START_SPACE } from 'msgpackr'
import { StoreDamaged } from '../../ports/event-store.ts'
import { guarded } from './guarded.ts'
import { keyEncoder } from './key-encoder.ts'
import { bufferOf } from './record.ts'
import type { ViewsEnv } from './views-env.ts'

const name = 'views'
const checksumBytes = 4

/** Where a value is the packer's own buffer, from `start` to `end`. */
type Packed = Buffer & { start?: number; end?: number }

/** Values behind their checksum. @throws StoreDamaged */
const checkedValues = () => {
  // Objects are then packed by their keys: else each key is asked for whether it is the object's own.
  const packr = new Packr({ useRecords: false, variableMapSize: true })
  /** Before each value, the packer leaves room for its checksum. */
  const framed = (value: unknown, how = 0): Packed => {
    const bytes: Packed = packr.pack(value, how | RESERVE_START_SPACE | checksumBytes)
    const { start = 0, end = bytes.length } = bytes
    bytes.writeUInt32LE(crc32(bytes.subarray(start + checksumBytes, end)), start)
    return bytes
  }
  // Every entry of an index has this value.
  const nothing = Buffer.from(framed(null))
  return {
    /** lmdb then says how the packer's own buffer may be used, and copies from it. */
    copyBuffers: true,
    encode: (value: unknown, how?: number): Buffer =>
      value === null ? nothing : framed(value, how),
    decode(read: Uint8Array, { end = read.length } = {}): unknown {
      const bytes = bufferOf(read)
      const packed = bytes.subarray(checksumBytes, end)
      if (end < checksumBytes || bytes.readUInt32LE() !== crc32(packed))
        throw new StoreDamaged('a value of the views is damaged')
      return packr.unpack(packed)
    },
  }
}

type Range = {
  start: Key
  end: Key
  reverse?: boolean
  limit?: number
  offset?: number
  transaction?: Transaction
}

/**
 * The one database of the views. All that is read and written is looked at before, and every value
 * has a checksum. @throws StoreDamaged
 */
export const viewsDatabase = ({ root, guard }: ViewsEnv) => {
  const options = { name, encoder: checkedValues(), keyEncoder, cache: false }
  const db = root.openDB<unknown, Key>(options)
  guard.forget()
  const { check, get, getRange, getKeys, getLastParts } = guarded(db, name, guard)
  /**
   * lmdb commits when what its transaction waits for has come: then at once, and not in a later
   * turn.
   */
  const openTransaction = () => {
    let come: (nothing: undefined) => void = () => undefined
    let failed: (why: unknown) => void = () => undefined
    db.transactionSync(() => ({
      // biome-ignore lint/suspicious/noThenProperty: it is what the transaction waits for
      then(resolve: typeof come, reject: typeof failed) {
        come = resolve
        failed = reject
      },
    }))
    return {
      commit: () => come(undefined),
      abort() {
        try {
          failed(undefined)
        } catch {
          // It throws what it was told.
        }
      },
    }
  }

  return {
    get,
    getRange: (range: Range) => getRange(range),
    getKeys: (range: Range) => getKeys(range),
    getLastParts: (range: Range) => getLastParts(range),
    getKeysCount({ start, end }: { start: Key; end: Key }): number {
      guard.checkRange(name, start, end)
      return db.getKeysCount({ start, end })
    },
    putSync(key: Key, value: unknown): void {
      check(key)
      db.putSync(key, value)
    },
    removeSync(key: Key): void {
      check(key, { removes: true })
      db.removeSync(key)
    },
    transactionSync<T>(work: () => T): T {
      guard.checkFree()
      try {
        return db.transactionSync(() => {
          const result = work()
          guard.committing()
          return result
        })
      } finally {
        guard.committed()
      }
    },
    /**
     * Begins a transaction that stays open over turns of the event loop, until one of these is
     * called. What is read meanwhile is what it has written so far, but for transactions that read.
     */
    begin() {
      guard.checkFree()
      const { commit, abort } = openTransaction()
      // After a commit that has failed there is nothing to abort: lmdb would end the process.
      let ended = false
      return {
        commit(): void {
          guard.committing()
          ended = true
          try {
            commit()
          } finally {
            guard.committed()
          }
        },
        abort(): void {
          if (ended) return
          ended = true
          try {
            abort()
          } finally {
            guard.committed()
          }
        },
      }
    },
    useReadTransaction: () => db.useReadTransaction(),
  }
}

export type ViewsDatabase = ReturnType<typeof viewsDatabase>
