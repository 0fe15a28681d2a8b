import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { mock } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Key } from 'lmdb'
import t, { type Test } from 'tap'
import { embeddedSnapshots } from '../../../src/adapters/embedded/snapshots.ts'
import { embeddedViews } from '../../../src/adapters/embedded/views.ts'
import { openViewsEnv } from '../../../src/adapters/embedded/views-env.ts'
import { StoreUnavailable } from '../../../src/ports/event-store.ts'
import type { Document } from '../../../src/ports/views.ts'
import { snapshotsContract } from '../../contracts/snapshots.ts'
import { viewsContract } from '../../contracts/views.ts'
import { foldingSpec } from '../../support/folding.ts'
import { at } from '../../support/positions.ts'
import { rounds } from '../../support/rounds.ts'
import { flipText, randomNumbers, spoil } from '../../support/spoiled.ts'

t.test('embedded views', async (t) => {
  const dir = t.testdir()
  let places = 0
  const place = async () => {
    const path = join(dir, `${places++}`)
    return { open: async () => embeddedViews(await openViewsEnv({ path })) }
  }
  viewsContract(t, place, { atomicReads: true })
})

t.test('embedded snapshots', async (t) => {
  const dir = t.testdir()
  let places = 0
  snapshotsContract(t, async (t) => {
    const env = await openViewsEnv({ path: join(dir, `${places++}`) })
    t.teardown(() => env.close())
    return embeddedSnapshots(env)
  })
})

t.test('while much more is to come, a document is written once for many commits', async (t) => {
  const env = await openViewsEnv({ path: join(t.testdir(), 'views') })
  const views = embeddedViews(env)
  await views.view(foldingSpec)
  const stored = env.root.openDB<unknown, Key>({ name: 'views' })
  const entries = () => (stored.getStats() as { entryCount: number }).entryCount
  const commit = (n: number, count: number, more: boolean) => {
    const changes = Array.from({ length: count }, (_, index) => ({
      id: `${index}`,
      document: { group: 'all', n },
    }))
    return views.commit([{ view: 'tallies', changes, position: at(n) }], 'live', more)
  }
  const before = entries()
  for (let n = 0; n < 10; n++) await commit(n, 10_000, true)
  t.equal(entries(), before, 'as long as they are not too many')
  await commit(10, 33_000, true)
  const entryCount = entries() - before
  t.equal(entryCount, 2 * 33_000 + 2, 'documents, index entries, a count and a checkpoint')
  await commit(11, 5_000, true)
  await commit(12, 5_000, false)
  t.equal(await views.checkpoint('tallies'), 12)
  t.strictSame(await (await views.view<Document>(foldingSpec)).get('7'), { group: 'all', n: 12 })
  await views.close()
})

t.test(
  'while much more is to come, new documents wait only where totals change with them',
  async (t) => {
    const env = await openViewsEnv({ path: join(t.testdir(), 'views') })
    const views = embeddedViews(env)
    await views.view(foldingSpec)
    const stored = env.root.openDB<unknown, Key>({ name: 'views' })
    const entries = () => (stored.getStats() as { entryCount: number }).entryCount
    let n = 0
    /** How many entries a commit of so many documents adds, from an id on. */
    const added = async (first: number, count: number, groupOf: (id: number) => string) => {
      const before = entries()
      const changes = Array.from({ length: count }, (_, index) => ({
        id: `${1_000_000 + first + index}`,
        document: { group: groupOf(first + index), n },
      }))
      await views.commit([{ view: 'tallies', changes, position: at(n++) }], 'live', true)
      return entries() - before
    }
    const all = () => 'all'
    const own = (id: number) => `${id}`
    t.equal(await added(0, 33_000, all), 2 * 33_000 + 2)
    t.equal(await added(33_000, 600, all), 2 * 600, 'most were new')
    t.equal(await added(33_600, 100, all), 0, 'few wait')
    t.equal(await added(33_100, 600, all), 2 * 100)
    t.equal(await added(33_100, 600, all), 0, 'most were not new')
    t.equal(await added(33_700, 33_000, own), 3 * 33_000)
    t.equal(await added(66_700, 600, own), 0, 'each had a total')
    await views.close()
  },
)

t.test('waiting documents are bounded by their bytes, which a write frees', async (t) => {
  const env = await openViewsEnv({ path: join(t.testdir(), 'views') })
  const views = embeddedViews(env)
  for (const name of ['tallies', 'others']) await views.view({ ...foldingSpec, name })
  const stored = env.root.openDB<unknown, Key>({ name: 'views' })
  const entries = () => (stored.getStats() as { entryCount: number }).entryCount
  const text = 'x'.repeat(5 * 1024 * 1024)
  const commit = async (view: string, n: number) => {
    const changes = [{ id: `${n}`, document: { group: 'all', n, text } }]
    await views.commit([{ view, changes, position: at(n) }])
    for (let turns = 0; turns < 20; turns++) {
      mock.timers.tick(8)
      await setImmediate()
    }
  }
  mock.timers.enable({ apis: ['setTimeout'] })
  const before = entries()
  await commit('tallies', 1)
  t.equal(entries(), before, '5 MB wait')
  await commit('others', 2)
  t.equal(entries(), before + 8, 'all of 10 MB is written')
  await commit('tallies', 3)
  t.equal(entries(), before + 8, '5 MB wait again')
  mock.timers.reset()
  await views.close()
})

t.test('new documents of any organization are neighbours; ids come back as they are', async (t) => {
  const env = await openViewsEnv({ path: join(t.testdir(), 'views') })
  const views = embeddedViews(env)
  const view = await views.view<Document>(foldingSpec)
  const document = { group: 'all', n: 1 }
  const ids = ['b/1', 'a/2', 'b/3', 'a/3', 'a/3/4', '5/', '/6', '7']
  const changes = ids.map((id) => ({ id, document }))
  await views.commit([{ view: 'tallies', changes, position: at(1) }])
  const all: string[] = []
  for await (const batch of view.all()) for (const { id } of batch) all.push(id)
  t.strictSame(all, ['5/', 'b/1', 'a/2', 'a/3/4', 'a/3', 'b/3', '/6', '7'])
  for (const id of ids) t.strictSame(await view.get(id), document, id)
  await views.commit([
    { view: 'tallies', changes: [{ id: 'a/3', document: undefined }], position: at(2) },
  ])
  t.equal(await view.get('a/3'), undefined)
  t.strictSame(await view.get('a/3/4'), document)
  await views.close()
})

const folding = fileURLToPath(new URL('../../support/folding.js', import.meta.url))

t.test('kill -9 leaves whole commits, in documents, indexes, counts and checkpoints', async (t) => {
  const path = join(t.testdir(), 'views')
  const folded = new Map<string, number>()
  for (const enough of [1, 300, 2_000, 5_000]) {
    const child = spawn(process.execPath, [folding, path], { stdio: ['ignore', 'pipe', 'inherit'] })
    const exited = once(child, 'exit')
    let lines = 0
    for await (const _ of createInterface({ input: child.stdout }))
      if (++lines === enough) child.kill('SIGKILL')
    await exited

    const env = await openViewsEnv({ path })
    const views = embeddedViews(env)
    t.equal(env.startedEmpty, undefined)
    for (const name of ['tallies', 'others']) {
      const view = await views.view<Document>({ ...foldingSpec, name })
      const checkpoint = await views.checkpoint(name)
      t.ok(checkpoint >= (folded.get(name) ?? -1))
      folded.set(name, checkpoint)
      if (checkpoint === -1) continue
      t.strictSame(await view.get('latest'), { group: 'latest', n: checkpoint })
      const groups = new Map<unknown, Document[]>()
      for await (const batch of view.all())
        for (const { document } of batch)
          groups.set(document.group, [...(groups.get(document.group) ?? []), document])
      for (const [group, documents] of groups) {
        const result = await view.find({ index: 'by_group', equals: [`${group}`], limit: 5_000 })
        const byN = documents.toSorted((a, b) => Number(a.n) - Number(b.n))
        t.strictSame(result, { items: byN, total: documents.length })
      }
    }
    await views.close()
  }
  for (const [name, position] of folded) t.ok(position > 1_000, name)
})

t.test(
  'a process that exits in the middle of a write ends, and leaves whole commits',
  async (t) => {
    const path = join(t.testdir(), 'views')
    // At 500 a write of 500 documents has begun.
    const child = spawn(process.execPath, [folding, path, '501'], { stdio: 'ignore' })
    t.strictSame(await once(child, 'exit'), [7, null])
    const views = embeddedViews(await openViewsEnv({ path }))
    const view = await views.view<Document>(foldingSpec)
    const checkpoint = await views.checkpoint('tallies')
    t.equal(checkpoint, (await view.get('latest'))?.n ?? -1)
    await views.close()
  },
)

const spec = { name: 'notes', indexes: {} }

/** Views that are folded up to 5, as a process left them. */
const left = async (t: Test, how: 'closed' | 'open') => {
  const path = join(t.testdir(), 'views')
  const env = await openViewsEnv({ path, boot: 'first' })
  const views = embeddedViews(env)
  await views.view(spec)
  await views.commit([{ view: 'notes', changes: [], position: at(5) }])
  await views.close()
  if (how === 'open') {
    const mark = JSON.parse(readFileSync(join(path, 'mark.json'), 'utf8'))
    writeFileSync(join(path, 'mark.json'), JSON.stringify({ layout: mark.layout, boot: 'first' }))
  }
  return path
}

const reopened = async (path: string, boot: string) => {
  const env = await openViewsEnv({ path, boot })
  const views = embeddedViews(env)
  await views.view(spec)
  const checkpoint = await views.checkpoint('notes')
  await views.close()
  return { checkpoint, startedEmpty: env.startedEmpty }
}

t.test('views are trusted after a clean end, and after a kill on the same machine', async (t) => {
  const expected = { checkpoint: 5, startedEmpty: undefined }
  t.strictSame(await reopened(await left(t, 'closed'), 'second'), expected)
  t.strictSame(await reopened(await left(t, 'open'), 'first'), expected)
})

t.test('views that a power cut may have damaged start empty', async (t) => {
  const path = await left(t, 'open')
  t.strictSame(await reopened(path, 'second'), {
    checkpoint: -1,
    startedEmpty: 'the machine went down while it was in use',
  })
})

t.test('views that are not what was left start empty', async (t) => {
  const cases: [reason: string, harm: (path: string) => void][] = [
    ['it was cut short', (path) => writeFileSync(join(path, 'data.mdb'), 'x'.repeat(9_000))],
    [
      'it was changed after it was closed',
      (path) => writeFileSync(join(path, 'data.mdb'), 'x'.repeat(9_000), { flag: 'r+' }),
    ],
    ['it was cut short', (path) => truncateSync(join(path, 'data.mdb'), 8_192)],
    ['nothing says how it was left', (path) => writeFileSync(join(path, 'mark.json'), '{')],
    [
      'it was written by another release, in format 0 and not 4',
      (path) => writeFileSync(join(path, 'mark.json'), '{"layout":0,"bytes":1}'),
    ],
  ]
  for (const [startedEmpty, harm] of cases) {
    const path = await left(t, 'closed')
    harm(path)
    t.strictSame(await reopened(path, 'first'), { checkpoint: -1, startedEmpty })
    t.strictSame(await reopened(path, 'first'), { checkpoint: -1, startedEmpty: undefined })
  }
})

t.test('the tables that a rebuild replaced are removed, also after a restart', async (t) => {
  const path = join(t.testdir(), 'views')
  const document = { text: 'x'.repeat(500) }
  const changes = Array.from({ length: 3_000 }, (_, n) => ({ id: `note ${n}`, document }))
  for (let round = 0; round < 2; round++) {
    const views = embeddedViews(await openViewsEnv({ path }))
    await views.view(spec)
    await views.beginRebuild('notes')
    await views.commit([{ view: 'notes', changes, position: at(round) }], 'rebuild')
    await views.swap('notes')
    await views.close()
  }
  const env = await openViewsEnv({ path })
  const db = env.root.openDB<unknown, (number | string)[]>({ name: 'views' })
  const views = embeddedViews(env)
  await views.view(spec)
  const documents = () => db.getKeysCount({ start: [1], end: ['z'] })
  for (let n = 0; n < 1_000 && documents() > changes.length; n++) await setImmediate()
  t.equal(documents(), changes.length)
  await views.close()
})

t.test('whatever is damaged, closed or open: the file is dropped and nothing else', async (t) => {
  t.setTimeout(120_000)
  for (const when of ['closed', 'open'] as const)
    for (let seed = 1; seed <= rounds(4, 12); seed++) {
      const path = join(t.testdir(), 'views')
      const random = randomNumbers(seed)
      const file = join(path, 'data.mdb')
      const fill = async () => {
        const views = embeddedViews(await openViewsEnv({ path }))
        const view = await views.view<Document>(spec)
        for (let n = 0; n < 10; n++) {
          const changes = Array.from({ length: 60 }, (_, m) => ({
            id: `note ${n * 60 + m}`,
            document: { text: `${m} `.repeat(m % 20 === 0 ? 4_000 : 50) },
          }))
          await views.commit([{ view: 'notes', changes, position: at(n) }])
        }
        return { views, view }
      }
      const first = await fill()
      await first.views.close()
      const harm = () => [spoil(file, random), spoil(file, random)].join(', ')
      let how = when === 'closed' ? harm() : ''
      const views = embeddedViews(await openViewsEnv({ path }))
      let renewed = 0
      views.onRenewed(() => {
        renewed++
      })
      const view = await views.view<Document>(spec)
      await setImmediate()
      if (when === 'open') how = harm()
      for (let n = 0; n < 600; n += 7) {
        const id = `note ${n}`
        const before = await view.get(id).catch((error) => {
          t.type(error, StoreUnavailable, `${seed}: ${how}`)
          return undefined
        })
        if (before) t.strictSame(Object.keys(before), ['text'])
        const document = { text: `new ${n}` }
        const commit = { view: 'notes', changes: [{ id, document }], position: at(10 + n) }
        await views.commit([commit]).catch((error) => t.type(error, StoreUnavailable))
      }
      t.comment(`${seed} ${when}: ${how}: renewed ${renewed} times`)
      await views.close()
    }
})

t.test('damage while it is open: not shown until it is folded again', async (t) => {
  const path = join(t.testdir(), 'views')
  const views = embeddedViews(await openViewsEnv({ path }))
  await views.view<Document>(spec)
  const changes = [{ id: 'one', document: { text: 'x'.repeat(70_000) } }]
  await views.commit([{ view: 'notes', changes, position: at(5) }])
  await views.close()
  const again = embeddedViews(await openViewsEnv({ path }))
  const view = await again.view<Document>(spec)
  const renewed = new Promise((resolve) => again.onRenewed(resolve))
  await setImmediate()
  t.ok(flipText(join(path, 'data.mdb'), 'x'.repeat(5_000)))
  await t.rejects(view.get('one'), StoreUnavailable)
  t.match(await renewed, { message: 'a value of the views is damaged' })
  t.strictSame(again.damage(), [{ store: 'read_models', what: 'notes' }])
  const standing = async () => again.checkpoint('notes').catch(() => undefined)
  for (let n = 0; n < 1_000 && (await standing()) === undefined; n++) await setImmediate()
  t.equal(await standing(), -1, 'to be folded from the start')
  await t.rejects(view.find({ index: 'all', equals: [], limit: 1 }), StoreUnavailable)
  await again.commit([{ view: 'notes', changes: [], position: at(4) }])
  await t.rejects(view.get('one'), StoreUnavailable, 'still behind')
  await again.commit([{ view: 'notes', changes, position: at(5) }])
  t.strictSame(await view.get('one'), changes[0]?.document)
  t.strictSame(again.damage(), [])
  await again.close()
})
