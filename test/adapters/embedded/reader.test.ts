import { join } from 'node:path'
import { open } from 'lmdb'
import { toBufferKey } from 'ordered-binary'
import t, { type Test } from 'tap'
import { markClosed } from '../../../src/adapters/embedded/data-file.ts'
import { embeddedEventStore } from '../../../src/adapters/embedded/event-store.ts'
import { streamKey } from '../../../src/adapters/embedded/index-key.ts'
import { UnreadableKey } from '../../../src/adapters/embedded/lmdb-errors.ts'
import { openLog } from '../../../src/adapters/embedded/log.ts'
import { readPosition } from '../../../src/adapters/embedded/stored-key.ts'
import { START, StoreDamaged } from '../../../src/ports/event-store.ts'
import { gathered, noted } from '../../support/noted.ts'
import { at } from '../../support/positions.ts'

type Key = Parameters<typeof toBufferKey>[0]

/** A closed log of three streams; the key of the middle record, and its place, have these bytes. */
const logWithKey = async (t: Test, key: Buffer) => {
  const path = join(t.testdir(), 'log')
  const log = await openLog({ path })
  const store = embeddedEventStore(log)
  for (const name of ['note-1', 'note-2', 'note-3']) await store.append(name, START, [noted(name)])
  await store.close()
  const root = open({ path, noSubdir: false, maxDbs: 8 })
  const binary = { encoding: 'binary', keyEncoding: 'binary' } as const
  const records = root.openDB<Buffer, Buffer>('records', binary)
  const streams = root.openDB<Buffer, Buffer>('streams', binary)
  const record = records.get(toBufferKey(1)) as Buffer
  await records.remove(toBufferKey(1))
  await records.put(key, record)
  await streams.put(toBufferKey(streamKey('note-2', 0)), key)
  await root.close()
  // As if it had been closed so: the check of its whole file names the key too.
  markClosed(join(path, 'data.mdb'))
  return path
}

t.test('a record whose key is no position is damaged, however it is read', async (t) => {
  // Both come between the keys of the first and the last record.
  for (const [name, key] of Object.entries({ fraction: 1.5, list: [1, 2] })) {
    const log = await openLog({ path: await logWithKey(t, toBufferKey(key)) })
    const store = embeddedEventStore(log)
    const middle = async function* () {
      yield [at(1)]
    }
    await t.rejects(gathered(store.history(START)), StoreDamaged, `${name}: history`)
    await t.rejects(gathered(store.read('note-2')), StoreDamaged, `${name}: a stream`)
    await t.rejects(gathered(store.at(middle())), StoreDamaged, `${name}: an event`)
    await t.rejects(store.append('note-2', 'any', [noted('again')]), StoreDamaged, `${name}: find`)
    t.equal((await gathered(store.read('note-3'))).length, 1, 'others are readable')
    await store.close()
  }
})

t.test('a log whose last key is no position is not opened', async (t) => {
  for (const key of ['text', 2n ** 70n]) {
    const path = await logWithKey(t, toBufferKey(key))
    await t.rejects(openLog({ path }), StoreDamaged)
  }
})

t.test('only whole numbers are positions', (t) => {
  const read = (key: Key) => {
    const bytes = toBufferKey(key)
    return readPosition(bytes, 0, bytes.length)
  }
  const noPositions = [7n ** 30n, 62.000_274, Number.NaN, null, true, 'text', [7, 8]]
  for (const key of noPositions) t.throws(() => read(key), UnreadableKey, String(key))
  for (const position of [0, 7, 2 ** 40]) t.equal(read(position), position)
  t.end()
})
