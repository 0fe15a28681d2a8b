import { statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { open } from 'lmdb'
import { streamKey } from './index-key.ts'
import type { FileKind, WalkLine } from './integrity-check.ts'
import { encoded, storedPosition } from './key-encoder.ts'
import { checksummed, isSound, lastEventOf } from './record.ts'
import { readPosition } from './stored-key.ts'

/**
 * The main program of a process that reads every key and value of a data file, and tells on
 * standard output how far it is and what it finds. lmdb may end the process on a damaged page.
 */

/** So many entries are read between two lines. */
const often = 64
/** Databases of the log whose values have no checksum. */
const plain = ['streams', 'keys', 'installation']

const [path = '', kind] = process.argv.slice(2) as [string, FileKind]

let now: WalkLine = { database: '', entries: 0, total: 0 }

const report = (more: Partial<WalkLine> = {}) =>
  writeSync(1, `${JSON.stringify({ ...now, ...more })}\n`)

const fail = (fault: string): never => {
  report({ fault })
  process.exit()
}

const checkedValue = {
  decode: (bytes: Uint8Array, { end = bytes.length } = {}) => isSound(bytes, end),
}

const encoderOf = (name: string) => {
  if (name === 'records') return checksummed
  if (name === 'streams') return storedPosition
  return kind === 'log' && plain.includes(name) ? { decode: () => true } : checkedValue
}

/** Keys as bytes, compared by lmdb as the server has them compared. */
const keyEncoder = {
  readKey: (source: Buffer, from: number, to: number) => Buffer.from(source.subarray(from, to)),
  writeKey(key: Buffer, target: Buffer, at: number): number {
    target.set(key, at)
    target.fill(0, at + key.length, at + key.length + 8)
    return at + key.length
  },
  enableNullTermination: (): void => undefined,
}

const check = () => {
  const root = open({ path, noSubdir: false, readOnly: true, maxDbs: 8 })
  const { lastPageNumber = 0, pageSize = 0 } = root.getStats() as Record<string, number>
  const { size } = statSync(join(path, 'data.mdb'))
  const needed = (lastPageNumber + 1) * pageSize
  if (size < needed) fail(`it has ${size} bytes of at least ${needed}`)

  const databaseOf = (name: string) => {
    const options = { name, encoder: encoderOf(name), keyEncoder, cache: false }
    return root.openDB<unknown, Buffer>(options)
  }
  const names = [...root.getKeys({})].map(String)
  const databases = new Map(names.map((name) => [name, databaseOf(name)]))

  /** Every record is in the index of streams, once: there are as many entries as records. */
  const checkRecord = (position: number, text: string) => {
    const { stream, revision } = lastEventOf(text)
    const { bytes, length } = encoded(streamKey(stream, revision))
    if (databases.get('streams')?.get(bytes.subarray(0, length)) !== position)
      fail('a record is not in its stream')
  }

  for (const [name, database] of databases) {
    const { entryCount: total } = database.getStats() as { entryCount: number }
    now = { database: name, entries: 0, total }
    let before: Buffer = Buffer.alloc(0)
    for (const { key, value } of database.getRange({})) {
      if (now.entries % often === 0) report()
      if (Buffer.compare(before, key) >= 0) fail('its keys are out of order')
      if (!database.doesExist(key)) fail('a key is not found where it belongs')
      const position = name === 'records' ? readPosition(key, 0, key.length) : undefined
      if (value === undefined || value === false) report({ position, damaged: true })
      else if (position !== undefined) checkRecord(position, String(value))
      now = { database: name, entries: now.entries + 1, total, position }
      before = key
    }
    if (now.entries !== total) fail(`${now.entries} of its ${total} entries are found`)
  }
}

/** Whether the system refused something: that says nothing of the file. */
const isOfSystem = (error: Error): boolean =>
  'code' in error && (Number(error.code) > 0 || /^E(?!RR_)/.test(`${error.code}`))

try {
  check()
} catch (error) {
  if (!(error instanceof Error) || isOfSystem(error)) throw error
  fail(error.message)
}
