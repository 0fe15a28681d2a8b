import t from 'tap'
import { deferred } from '../../src/support/deferred.ts'
import { workQueue } from '../../src/workers/work-queue.ts'

const log = { error: () => undefined, warn: () => undefined, info: () => undefined }

/** Works that end when they are told to. */
const held = (most: number) => {
  const started: string[] = []
  const finishers = new Map<string, () => void>()
  const pool = workQueue({
    work: async (id) => {
      started.push(id)
      const done = deferred<void>()
      finishers.set(id, () => done.resolve())
      await done.promise
    },
    log: log as never,
    most,
    what: 'a test',
  })
  const end = async (id: string) => {
    finishers.get(id)?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { pool, started, end }
}

t.test('an organization’s slow work never holds up all places', async (t) => {
  const { pool, started, end } = held(2)
  for (let n = 0; n < 20; n++) pool.add('slow', `slow-${n}`)
  t.strictSame(started, ['slow-0'])
  pool.add('other', 'quick')
  t.strictSame(started, ['slow-0', 'quick'])
  await end('quick')
  pool.add('other', 'quick')
  t.strictSame(started, ['slow-0', 'quick', 'quick'])
  await end('slow-0')
  t.strictSame(started.at(-1), 'slow-1', 'its own come one after another')
})

t.test('with one place, organizations take turns', async (t) => {
  const { pool, started, end } = held(1)
  for (const id of ['a1', 'a2', 'a3']) pool.add('a', id)
  for (const id of ['b1', 'b2']) pool.add('b', id)
  for (const id of ['a1', 'a2', 'b1', 'a3']) await end(id)
  t.strictSame(started, ['a1', 'a2', 'b1', 'a3', 'b2'])
})

t.test('an id added while it is worked on is worked on again, once and later', async (t) => {
  const { pool, started, end } = held(3)
  pool.add('a', 'one')
  pool.add('a', 'one')
  pool.add('a', 'one')
  t.strictSame(started, ['one'])
  await end('one')
  t.strictSame(started, ['one', 'one'])
  await end('one')
  t.equal(started.length, 2)
})

t.test('a failure is logged with the request that asked for the work', async (t) => {
  const lines: object[] = []
  const pool = workQueue({
    work: async () => {
      throw new Error('no')
    },
    log: { ...log, error: (fields) => void lines.push(fields) },
    findRequestId: async (id) => (id === 'known' ? 'request-1' : undefined),
    most: 1,
    what: 'a test',
  })
  pool.add('a', 'known')
  pool.add('a', 'unknown')
  while (pool.length() > 0) await new Promise((resolve) => setImmediate(resolve))
  t.match(lines, [
    { err: { message: 'no' }, id: 'known', reqId: 'request-1' },
    { err: { message: 'no' }, id: 'unknown' },
  ])
})

t.test(
  'it is idle when nothing waits any more, and nobody waits longer than they said',
  async (t) => {
    const { pool, end } = held(1)
    await pool.idle(60_000)
    for (const id of ['a1', 'a2']) pool.add('a', id)
    let isIdle = false
    const idle = pool.idle(60_000).then(() => {
      isIdle = true
    })
    await pool.idle(1)
    await end('a1')
    t.notOk(isIdle, 'a2 has begun')
    await end('a2')
    await idle
    t.equal(pool.length(), 0)
  },
)
