import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import t, { type Test } from 'tap'
import { environmentIn } from '../../../src/adapters/embedded/environment.ts'
import { embeddedEventStore } from '../../../src/adapters/embedded/event-store.ts'
import { openLog } from '../../../src/adapters/embedded/log.ts'
import { metadata } from '../../support/recorded.ts'

/** Begins a read of the records in another process, and blocks that within it. */
const reading = `
  const { open } = await import('lmdb')
  const root = open({ path: process.argv[1], noSubdir: false, maxDbs: 8, readOnly: true })
  for (const _ of root.openDB({ name: 'records', encoding: 'binary' }).getKeys({})) {
    console.log('reading')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  }
`

const killedAmidRead = async (path: string) => {
  const args = ['--input-type=module', '-e', reading, path]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
}

/** How many pages of its file a log uses. */
const pagesOf = async (path: string): Promise<number> => {
  const { root } = environmentIn(path, true)
  const { lastPageNumber = 0 } = root.getStats() as Record<string, number>
  await root.close()
  return lastPageNumber
}

t.test('pages are used again after a reader was killed amid a read', async (t: Test) => {
  const path = t.testdir()
  const log = await openLog({ path })
  t.teardown(() => log.close())
  const store = embeddedEventStore(log)
  const append = async (count: number) => {
    for (let n = 0; n < count; n++) {
      const event = { id: randomUUID(), type: 'Said', data: {}, metadata }
      await store.append(`s-${randomUUID()}`, -1, [event])
    }
  }
  await append(200)
  // To open a log forgets such readers too, so it is not opened in between.
  const before = await pagesOf(path)
  await killedAmidRead(path)
  await append(300)
  const grown = (await pagesOf(path)) - before
  // Else six pages or more with each append.
  t.ok(grown < 600, `${grown} pages`)
})
