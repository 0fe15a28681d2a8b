import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { embeddedSnapshots } from '../../../src/adapters/embedded/snapshots.ts'
import { embeddedViews } from '../../../src/adapters/embedded/views.ts'
import { openViewsEnv } from '../../../src/adapters/embedded/views-env.ts'
import type { Document } from '../../../src/ports/views.ts'
import { snapshotsContract } from '../../contracts/snapshots.ts'
import { viewsContract } from '../../contracts/views.ts'
import { foldingSpec } from '../../support/folding.ts'
import { at } from '../../support/positions.ts'

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

const folding = fileURLToPath(new URL('../../support/folding.js', import.meta.url))

t.test('kill -9 leaves whole commits, in documents, indexes, counts and checkpoints', async (t) => {
  const path = join(t.testdir(), 'views')
  let folded = -1
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
      t.ok(checkpoint >= folded)
      if (checkpoint === -1) continue
      t.strictSame(await view.get('latest'), { group: 'latest', n: checkpoint })
      const groups = new Map<unknown, Document[]>()
      for await (const batch of view.all())
        for (const { document } of batch)
          groups.set(document.group, [...(groups.get(document.group) ?? []), document])
      for (const [group, documents] of groups) {
        const found = await view.find({ index: 'by_group', equals: [`${group}`], limit: 1_000 })
        const byN = documents.toSorted((a, b) => Number(a.n) - Number(b.n))
        t.strictSame(found, { items: byN, total: documents.length })
      }
    }
    t.equal(await views.checkpoint('tallies'), await views.checkpoint('others'))
    folded = await views.checkpoint('tallies')
    await views.close()
  }
  t.ok(folded > 1_000)
})

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
  const kept = { checkpoint: 5, startedEmpty: undefined }
  t.strictSame(await reopened(await left(t, 'closed'), 'second'), kept)
  t.strictSame(await reopened(await left(t, 'open'), 'first'), kept)
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
      'it was written by another version',
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

t.test('what a rebuild replaced is removed, also after a restart', async (t) => {
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
  for (let n = 0; n < 1_000 && documents() > changes.length; n++)
    await new Promise((resolve) => setImmediate(resolve))
  t.equal(documents(), changes.length)
  await views.close()
})
