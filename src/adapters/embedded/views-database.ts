import { crc32 } from 'node:zlib'
import type { Key, RangeOptions } from 'lmdb'
import { Packr, RESERVE_START_SPACE } from 'msgpackr'
import { StoreDamaged } from '../../ports/event-store.ts'
import { keyEncoder } from './key-encoder.ts'
import { bufferOf, checksumBytes, isSound } from './record.ts'
import { lastPartOf } from './stored-key.ts'
import type { ViewsEnv } from './views-env.ts'

type Range = RangeOptions & { start: Key; end: Key }

/** Where a value is the packer's own buffer, from `start` to `end`. */
type Packed = Buffer & { start?: number; end?: number }

/** Values behind their checksum. @throws StoreDamaged */
const checkedValues = () => {
  // Packs objects by their keys, without testing for each key whether it is the object's own.
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
      if (!isSound(read, end)) throw new StoreDamaged('a value of the views is damaged')
      return packr.unpack(bufferOf(read).subarray(checksumBytes, end))
    },
  }
}

/** The one database of the views: every value has a checksum. @throws StoreDamaged */
export const viewsDatabase = ({ root }: Pick<ViewsEnv, 'root'>) => {
  const options = { name: 'views', encoder: checkedValues(), keyEncoder, cache: false }
  const db = root.openDB<unknown, Key>(options)
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
    get: (key: Key) => db.get(key),
    getRange: (range: Range) => db.getRange(range),
    getKeys: (range: Range) => db.getKeys(range),
    getLastParts: (range: Range): Iterable<string> => db.getKeys(range).map(lastPartOf),
    getKeysCount: (range: Range) => db.getKeysCount(range),
    putSync: (key: Key, value: unknown) => void db.putSync(key, value),
    removeSync: (key: Key) => void db.removeSync(key),
    transactionSync: <T>(work: () => T): T => db.transactionSync(work),
    /**
     * Begins a transaction that stays open over turns of the event loop, until one of these is
     * called. What is read meanwhile is what it has written so far, but for transactions that read.
     */
    begin() {
      const { commit, abort } = openTransaction()
      // After a commit that has failed there is nothing to abort: lmdb would end the process.
      let isOver = false
      return {
        commit(): void {
          isOver = true
          commit()
        },
        abort(): void {
          if (!isOver) abort()
          isOver = true
        },
      }
    },
    useReadTransaction: () => db.useReadTransaction(),
  }
}

export type ViewsDatabase = ReturnType<typeof viewsDatabase>
