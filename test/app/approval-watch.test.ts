import t from 'tap'
import { approvalWatch } from '../../src/app/approval-watch.ts'
import { deferred } from '../../src/support/deferred.ts'

t.test('looks come one at a time, and a lasting failure is logged once', async (t) => {
  const errors: unknown[] = []
  const sixth = deferred<void>()
  let looks = 0
  let running = 0
  const { start, stop } = approvalWatch({
    everyMs: 1,
    log: { error: (fields) => errors.push(fields) },
    async expire() {
      t.equal(++running, 1)
      await new Promise(setImmediate)
      running--
      looks++
      if (looks === 6) sixth.resolve()
      if (looks < 3 || looks === 4) throw new Error(`failure ${looks}`)
    },
  })
  start()
  start()
  await sixth.promise
  await stop()
  const before = looks
  await new Promise((resolve) => setTimeout(resolve, 5))
  t.equal(looks, before, 'none after the stop')
  t.match(errors, [{ err: { message: 'failure 1' } }, { err: { message: 'failure 4' } }])
  t.equal(errors.length, 2)
})

t.test('a stop waits for the look under way', async (t) => {
  const begun = deferred<void>()
  const go = deferred<void>()
  let ended = false
  const { start, stop } = approvalWatch({
    everyMs: 1,
    log: { error: () => undefined },
    async expire() {
      begun.resolve()
      await go.promise
      ended = true
    },
  })
  start()
  await begun.promise
  const stopping = stop().then(() => t.ok(ended))
  go.resolve()
  await stopping
})
