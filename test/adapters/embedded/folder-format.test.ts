import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { embeddedBlobs } from '../../../src/adapters/embedded/blobs.ts'
import { openLog } from '../../../src/adapters/embedded/log.ts'
import { openViewsEnv } from '../../../src/adapters/embedded/views-env.ts'
import { StoreDamaged } from '../../../src/ports/event-store.ts'
import { startServer } from '../../support/server.ts'

const folders = {
  log: async (path: string) => (await openLog({ path })).close(),
  blobs: async (path: string) => void (await embeddedBlobs(path)),
}

for (const [name, open] of Object.entries(folders)) {
  t.test(`a folder ${name} of another release is named so, with what to do`, async (t) => {
    const path = t.testdir()
    await open(path)
    const own = readFileSync(join(path, 'format'), 'utf8')
    for (const [format, writer] of [
      ['0', 'an earlier'],
      ['7', 'a later'],
    ] as const) {
      writeFileSync(join(path, 'format'), format)
      const message = `${path} is in format ${format}, written by ${writer} release; this one reads format ${own}. Nothing is damaged: start the release that wrote it, or use another DATA_DIR`
      await t.rejects(open(path), { name: 'StoreFormat', message })
    }
    writeFileSync(join(path, 'format'), own)
    await open(path)
  })

  t.test(`a folder ${name} whose format is no number is damaged`, async (t) => {
    const path = t.testdir()
    await open(path)
    writeFileSync(join(path, 'format'), '')
    await t.rejects(open(path), StoreDamaged)
  })
}

t.test('blobs of before the formats are taken over', async (t) => {
  const path = t.testdir({ '00': {} })
  await embeddedBlobs(path)
  t.equal(readFileSync(join(path, 'format'), 'utf8'), '1')
})

t.test('views of another release are folded again', async (t) => {
  const path = join(t.testdir(), 'views')
  await (await openViewsEnv({ path })).close()
  const mark = join(path, 'mark.json')
  writeFileSync(mark, readFileSync(mark, 'utf8').replace(/"layout":\d+/, '"layout":99'))
  const env = await openViewsEnv({ path })
  t.match(env.startedEmpty, /^it was written by another release, in format 99 and not \d+$/)
  await env.close()
})

t.test('the server says so in one line and ends', async (t) => {
  for (const name of ['log', 'blobs']) {
    const DATA_DIR = t.testdir()
    mkdirSync(join(DATA_DIR, name))
    writeFileSync(join(DATA_DIR, name, 'format'), '99')
    await t.rejects(startServer(t, { DATA_DIR }), {
      message: new RegExp(`\nStoreFormat: \\S*/${name} is in format 99, .* start the release that`),
    })
  }
})
