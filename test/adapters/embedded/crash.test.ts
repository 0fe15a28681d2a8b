import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { embeddedEventStore } from '../../../src/adapters/embedded/event-store.ts'
import { embeddedKeyStore } from '../../../src/adapters/embedded/key-store.ts'
import { openLog } from '../../../src/adapters/embedded/log.ts'
import { START } from '../../../src/ports/event-store.ts'
import { gathered } from '../../support/noted.ts'

const appending = fileURLToPath(new URL('../../support/appending.js', import.meta.url))

/** Starts the appending process; answers it and its lines. */
const start = (path: string) => {
  const child = spawn(process.execPath, [appending, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  return { child, lines: createInterface({ input: child.stdout }) }
}

t.test('what was acknowledged survives kill -9', async (t) => {
  const path = join(t.testdir(), 'log')
  const acknowledged: string[] = []
  for (const enough of [1, 150, 400, 777]) {
    const { child, lines } = start(path)
    const exited = once(child, 'exit')
    let seen = 0
    for await (const line of lines) {
      acknowledged.push(line)
      if (++seen === enough) child.kill('SIGKILL')
    }
    await exited
    t.ok(seen >= enough)
  }
  const log = await openLog({ path })
  t.teardown(() => log.close())
  const keys = embeddedKeyStore(log)
  const events = await gathered(embeddedEventStore(log).history(START))
  t.ok(
    events.every(({ position }, n) => position === n),
    'no gap in the log',
  )
  const missing = acknowledged.filter((line) => {
    const [stream, revision, position, id] = line.split(' ')
    const event = events[Number(position)]
    return event?.id !== id || event?.stream !== stream || event?.revision !== Number(revision)
  })
  t.strictSame(missing, [])
  for (const stream of new Set(events.map((event) => event.stream)))
    if (!(await keys.get(stream))) t.fail(`the key of ${stream} is gone`)
})

t.test('a store has one process', async (t) => {
  const path = join(t.testdir(), 'log')
  await t.test('the same process cannot open it twice', async (t) => {
    const log = await openLog({ path })
    await t.rejects(openLog({ path }), {
      name: 'StoreInUse',
      message: `${path} is in use by process ${process.pid}`,
    })
    await log.close()
    await (await openLog({ path })).close()
  })
  await t.test('another process cannot, until the first is gone', async (t) => {
    const first = start(path)
    await once(first.lines, 'line')
    await t.rejects(openLog({ path }), {
      name: 'StoreInUse',
      message: `${path} is in use by process ${first.child.pid}`,
    })
    const second = start(path)
    const [refusal] = await once(second.lines, 'line')
    t.match(refusal, `StoreInUse: ${path} is in use by process ${first.child.pid}`)
    first.child.kill('SIGKILL')
    await once(first.child, 'exit')
    const log = await openLog({ path })
    t.equal(readdirSync(path).filter((name) => name.startsWith('held-by.')).length, 1)
    await log.close()
    t.equal(readdirSync(path).filter((name) => name.startsWith('held-by.')).length, 0)
  })
  await t.test('of many that open it at once at most one does', async (t) => {
    const fresh = join(path, 'fresh')
    mkdirSync(fresh)
    const opened = await Promise.allSettled(
      Array.from({ length: 6 }, () => openLog({ path: fresh })),
    )
    const logs = opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    t.ok(logs.length <= 1)
    for (const log of logs) await log.close()
  })
})
