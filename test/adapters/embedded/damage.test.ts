import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { CommitPace } from '../../../src/adapters/embedded/commit-pace.ts'
import { embeddedEventStore } from '../../../src/adapters/embedded/event-store.ts'
import { embeddedKeyStore } from '../../../src/adapters/embedded/key-store.ts'
import { openLog } from '../../../src/adapters/embedded/log.ts'
import { START, StoreDamaged, StoreUnavailable } from '../../../src/ports/event-store.ts'
import { batchEvents, gathered, noted } from '../../support/noted.ts'
import { at } from '../../support/positions.ts'

/** A closed store with 30 streams of one event; `marks` are found in the bytes of each. */
const filled = async (t: Test) => {
  const path = join(t.testdir(), 'log')
  const log = await openLog({ path })
  const store = embeddedEventStore(log)
  const marks = Array.from({ length: 30 }, () => randomUUID())
  for (const [n, mark] of marks.entries()) await store.append(`note-${n}`, START, [noted(mark)])
  await store.close()
  return { path, file: join(path, 'data.mdb'), marks }
}

/** Flips a bit of a text wherever it is in a file. */
const spoil = (file: string, text = '') => {
  const bytes = readFileSync(file)
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1))
    bytes[at + 3] = (bytes[at + 3] ?? 0) ^ 1
  writeFileSync(file, bytes)
}

t.test('a damaged event is reported where it is read', async (t) => {
  const { path, file, marks } = await filled(t)
  spoil(file, marks[7])
  const log = await openLog({ path })
  t.teardown(() => log.close())
  const store = embeddedEventStore(log)
  const damaged = { name: 'StoreDamaged', message: `${file}: damaged at position 7` }
  await t.rejects(gathered(store.history(START)), damaged)
  await t.rejects(gathered(batchEvents(store.feed(START))), damaged)
  await t.rejects(gathered(store.read('note-7')), damaged)
  t.equal((await gathered(store.read('note-8'))).length, 1, 'the others are readable')
  t.equal((await gathered(store.history(at(7)))).length, 22)
})

t.test('damage that can be seen at once keeps the store closed', async (t) => {
  const cases: Record<string, (file: string, marks: readonly string[]) => void> = {
    'in the last event': (file, marks) => spoil(file, marks.at(-1)),
    'a truncated file': (file) => truncateSync(file, 40_960),
    'a damaged header': (file) => writeFileSync(file, 'x'.repeat(9_000), { flag: 'r+' }),
    'another file': (file) => writeFileSync(file, 'x'.repeat(90_000)),
    'a file of a few bytes': (file) => truncateSync(file, 100),
    'an empty file': (file) => truncateSync(file, 0),
    'a missing file': (file) => rmSync(file),
    'a format that is no number': (file) => writeFileSync(join(file, '..', 'format'), 'x'),
  }
  const crashed = ['a truncated file', 'a damaged header']
  const left = (mark: 'closed' | 'by a crash') => (name: string) =>
    t.test(`${name}, left ${mark}`, async (t) => {
      const { path, file, marks } = await filled(t)
      if (mark === 'by a crash') rmSync(join(path, 'closed.json'))
      cases[name]?.(file, marks)
      const opening = () => openLog({ path, patienceMs: 600_000 })
      await t.rejects(opening(), StoreDamaged)
      await t.rejects(opening(), StoreDamaged, 'and is not taken for opened')
    })
  for (const name of Object.keys(cases)) await left('closed')(name)
  for (const name of crashed) await left('by a crash')(name)
})

t.test('a sound store opens, closed or not', async (t) => {
  const { path, marks } = await filled(t)
  for (const mark of ['{', '{"bytes":1,"head":""}', undefined]) {
    const noted = join(path, 'closed.json')
    if (mark === undefined) rmSync(noted)
    else writeFileSync(noted, mark)
    const log = await openLog({ path })
    t.notOk(existsSync(noted), 'an open store is not marked as closed')
    t.equal((await gathered(embeddedEventStore(log).history(START))).length, marks.length)
    await log.close()
    t.ok(existsSync(noted))
  }
})

const fileSizeLimit = (bytes: number | 'unlimited') =>
  execFileSync('prlimit', ['--pid', `${process.pid}`, `--fsize=${bytes}:unlimited`])

const canLimit = () => {
  try {
    fileSizeLimit('unlimited')
    return true
  } catch {
    return false
  }
}

const onFullDisk = async (t: Test, pace: CommitPace) => {
  const path = join(t.testdir(), 'log')
  const log = await openLog({ path, pace })
  const store = embeddedEventStore(log)
  const keys = embeddedKeyStore(log)
  const stored = ['before']
  await store.append('note-1', START, [noted('before')])
  await keys.create('burnt', Buffer.from('key'))
  const feed = store.feed(await store.head())[Symbol.asyncIterator]()
  const next = feed.next()

  fileSizeLimit(300_000)
  const outcomes: PromiseSettledResult<unknown>[] = []
  for (let round = 0; round < 5; round++) {
    const notes = Array.from({ length: 10 }, (_, n) => `${round}.${n} ${'x'.repeat(9_000)}`)
    const settled = await Promise.allSettled(
      notes.map((note) => store.append('note-1', 'any', [noted(note)])),
    )
    outcomes.push(...settled)
    stored.push(...notes.filter((_, n) => settled[n]?.status === 'fulfilled'))
  }
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
  t.ok(refused.length > 0)
  t.ok(refused.every(({ reason }) => reason instanceof StoreUnavailable))
  const large = 'y'.repeat(200_000)
  await keys.create('late', Buffer.from('key'))
  await t.rejects(store.append('note-2', START, [noted(large)]), StoreUnavailable)
  await t.rejects(
    Promise.all([store.append('note-2', START, [noted(large)]), keys.destroy('burnt')]),
    StoreUnavailable,
  )
  t.ok(await keys.get('burnt'), 'not destroyed')
  t.equal((await gathered(store.read('note-1'))).length, stored.length)
  fileSizeLimit('unlimited')

  await store.append('note-2', START, [noted(large)])
  stored.push(large)
  t.equal((await next).value?.events[0]?.revision, 1, 'a feed goes on')
  await feed.return?.()
  await store.close()

  const again = await openLog({ path })
  t.teardown(() => again.close())
  const events = await gathered(embeddedEventStore(again).history(START))
  t.strictSame(
    events.map(({ data }) => data),
    stored.map((note) => ({ note })),
  )
  t.ok(await embeddedKeyStore(again).get('late'), 'a key that was handed out is stored')
}

for (const isSynchronous of [true, false])
  t.test(
    `a full disk, commits ${isSynchronous ? '' : 'not '}waited for`,
    { skip: !canLimit() && 'there is no prlimit here' },
    (t) => onFullDisk(t, { waits: () => isSynchronous, took: () => undefined }),
  )
