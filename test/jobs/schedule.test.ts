import t from 'tap'
import { schedule } from '../../src/jobs/schedule.ts'
import { silent } from '../../src/ports/log.ts'
import { deferred } from '../../src/support/deferred.ts'

t.test('ticks come one at a time, a failed one is told, none comes after the stop', async (t) => {
  const errors: unknown[] = []
  const second = deferred<undefined>()
  const third = deferred<undefined>()
  let ticks = 0
  let running = 0
  let stopped = false
  const jobs = schedule({
    every: 20,
    log: { ...silent, error: (fields) => errors.push(fields) },
    async tick() {
      t.notOk(stopped)
      t.equal(++running, 1)
      ticks++
      if (ticks === 2) second.resolve(undefined)
      if (ticks === 3) await third.promise
      running--
      if (ticks === 1) throw new Error('the store is away')
    },
  })
  await jobs.start()
  await second.promise
  t.match(errors, [{ err: { message: 'the store is away' } }])
  const stopping = jobs.stop()
  third.resolve(undefined)
  await stopping
  stopped = true
  t.equal(running, 0)
})

t.test('a stop waits for the duty that is under way', async (t) => {
  const start = deferred<undefined>()
  const go = deferred<undefined>()
  let isDone = false
  const jobs = schedule({
    every: 20,
    log: silent,
    async tick() {
      start.resolve(undefined)
      await go.promise
      isDone = true
    },
  })
  await jobs.start()
  await start.promise
  const stopping = jobs.stop().then(() => t.ok(isDone))
  go.resolve(undefined)
  await stopping
})

t.test('what was never started can be stopped', async () => {
  const jobs = schedule({ log: silent, tick: async () => undefined })
  await jobs.stop()
})
