import { getPriority } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import t from 'tap'
import { type PoolOptions, workerPool } from '../../src/support/worker-pool.ts'
import { eventually } from './eventually.ts'
import { noHandleLimits, takeHandles } from './few-handles.ts'
import type { ToyTask } from './toy-thread.ts'

const poolOf = (options: Partial<PoolOptions> = {}) =>
  workerPool<ToyTask, number>({
    script: new URL('./toy-thread.js', import.meta.url),
    threads: 1,
    timeoutMs: 30_000,
    heapMb: 32,
    ...options,
  })

t.test('tasks are answered, and what they throw is told', async (t) => {
  const pool = poolOf({ threads: 2 })
  t.teardown(pool.close)
  const answers = Array.from({ length: 20 }, (_, n) => pool.run('a', { echo: n }))
  t.strictSame(
    await Promise.all(answers),
    answers.map((_, n) => n),
  )
  await t.rejects(pool.run('a', { throws: 'no' }), { name: 'WorkFailed', fault: 'crash' })
  t.equal(await pool.run('a', { echo: 1 }), 1)
})

t.test('a task that takes too long ends its thread, and the next has another', async (t) => {
  const pool = poolOf()
  t.teardown(pool.close)
  t.equal(await pool.run('a', { keep: 1 }), 1)
  const hanging = pool.run('a', { hang: true }, { timeoutMs: 100 })
  await t.rejects(hanging, { name: 'WorkFailed', fault: 'time' })
  t.equal(await pool.run('a', { keep: 1 }), 1, 'what the first kept is gone')
})

t.test('a task that finds the heap full of what others left is done again', async (t) => {
  const pool = poolOf()
  t.teardown(pool.close)
  const answers: number[] = []
  for (let n = 0; n < 12; n++) answers.push(await pool.run('a', { keep: 100_000 }))
  t.ok(answers.lastIndexOf(1) > 0, `a new thread took over: ${answers}`)
  await t.rejects(pool.run('a', { fill: true }), { name: 'WorkFailed', fault: 'memory' })
  t.equal(await pool.run('a', { echo: 1 }), 1)
})

t.test('threads have their own young generation, whatever this process has', async (t) => {
  const limit = async () => {
    const pool = poolOf()
    t.teardown(pool.close)
    return pool.run('a', { heapLimit: true })
  }
  const usual = await limit()
  setFlagsFromString('--max-semi-space-size=64')
  t.equal(await limit(), usual)
})

t.test('a process gives way to this one where processors are few', async (t) => {
  const pool = poolOf({ processMb: 1_024 })
  t.teardown(pool.close)
  t.equal(await pool.run('a', { priority: true }), getPriority() + 5)
})

t.test('owners take turns', async (t) => {
  const pool = poolOf()
  t.teardown(pool.close)
  const order: string[] = []
  const ask = (owner: string) => pool.run(owner, { echo: 1 }).then(() => order.push(owner))
  await Promise.all(['a', 'a', 'a', 'a', 'b', 'b'].map(ask))
  t.strictSame(order, ['a', 'a', 'b', 'a', 'b', 'a'])
})

t.test('closing fails what is pending and what comes', async (t) => {
  const pool = poolOf()
  const pending = [pool.run('a', { hang: true }), pool.run('a', { echo: 1 })]
  const failing = Promise.all(
    pending.map((task) => t.rejects(task, { name: 'WorkFailed', fault: 'closed' })),
  )
  await pool.close()
  await failing
  await t.rejects(pool.run('a', { echo: 1 }), { name: 'WorkFailed', fault: 'closed' })
})

t.test('a thread without work ends', async (t) => {
  const pool = poolOf({ idleMs: 1 })
  t.teardown(pool.close)
  t.equal(await pool.run('a', { keep: 1 }), 1)
  t.ok(await eventually(async () => (await pool.run('a', { keep: 1 })) === 1))
})

for (const processMb of [undefined, 1_024])
  t.test(
    `a task for which no ${processMb ? 'process' : 'thread'} can be started is done when one can`,
    { skip: noHandleLimits() },
    async (t) => {
      const pool = poolOf(processMb ? { processMb } : {})
      t.teardown(pool.close)
      const { free } = takeHandles(t)
      const answer = pool.run('a', { echo: 1 })
      // Its first start fails in the meantime.
      for (let turns = 0; turns < 50; turns++) await setImmediate()
      free()
      t.equal(await answer, 1)
    },
  )
