import t from 'tap'
import { approvalWatch } from '../../src/app/approval-watch.ts'
import { deferred } from '../../src/support/deferred.ts'

const now = new Date('2026-01-01T00:00:00.000Z')
const clock = { now: () => now }
const log = { error: () => undefined }
const after = (ms: number) => new Date(now.getTime() + ms).toISOString()

t.test('looks once at the start, then at the time of the next call', async (t) => {
  const third = deferred<void>()
  const times = [after(1), after(2), undefined]
  let looks = 0
  const { start, stop } = approvalWatch({
    clock,
    log,
    shortestMs: 1,
    async expire() {
      const next = times[looks++]
      if (looks === 3) third.resolve()
      return next
    },
  })
  start()
  await third.promise
  await stop()
  t.equal(looks, 3, 'none without a call that waits')
})

t.test('an earlier call is looked at earlier, and a later one changes nothing', async (t) => {
  const second = deferred<void>()
  let looks = 0
  const { start, stop, watch } = approvalWatch({
    clock,
    log,
    shortestMs: 1,
    async expire() {
      looks++
      if (looks === 2) second.resolve()
      return looks === 1 ? after(59_000) : undefined
    },
  })
  watch(after(1))
  start()
  await new Promise(setImmediate)
  watch(after(60_000))
  watch(after(1))
  await second.promise
  await stop()
  watch(after(1))
  await new Promise((resolve) => setTimeout(resolve, 5))
  t.equal(looks, 2)
})

t.test('a failure is logged, and tried again', async (t) => {
  const errors: unknown[] = []
  const second = deferred<void>()
  let looks = 0
  const { start, stop } = approvalWatch({
    clock,
    log: { error: (fields) => errors.push(fields) },
    shortestMs: 1,
    retryMs: 1,
    async expire() {
      if (++looks === 1) throw new Error('the store is away')
      second.resolve()
      return undefined
    },
  })
  start()
  await second.promise
  await stop()
  t.match(errors, [{ err: { message: 'the store is away' } }])
})

t.test('a stop waits for the look under way', async (t) => {
  const go = deferred<void>()
  let isDone = false
  const { start, stop } = approvalWatch({
    clock,
    log,
    async expire() {
      await go.promise
      isDone = true
      return undefined
    },
  })
  start()
  const stopping = stop().then(() => t.ok(isDone))
  go.resolve()
  await stopping
})
