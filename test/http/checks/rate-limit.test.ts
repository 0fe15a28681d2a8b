import fc from 'fast-check'
import t from 'tap'
import { concurrency, rateLimiter } from '../../../src/http/checks/rate-limit.ts'

const minuteMs = 60_000
const hourMs = 3_600_000

/** Both clocks agree. */
const at = (ms: number) => ({ monotonic: ms, wall: ms })

/** Every request that was ever counted, looked through each time. */
const naive = () => {
  const hits: number[] = []
  const within = (now: number, length: number) => hits.filter((at) => at > now - length)
  return {
    hits,
    within,
    check(limits: { minute: number; hour: number }, now: number, count: boolean) {
      const [minute, hour] = [within(now, minuteMs), within(now, hourMs)]
      const full = minute.length >= limits.minute || hour.length >= limits.hour
      if (!full && count) hits.push(now)
      return full
    },
  }
}

const step = fc.record({
  /** By how much wall time steps, back or forth. */
  stepped: fc.constantFrom(0, 0, 0, -hourMs, hourMs, -1, 1),
  wait: fc.oneof(
    fc.integer({ min: 0, max: 2_000 }),
    fc.constantFrom(0, 1, minuteMs - 1, minuteMs, minuteMs + 1, hourMs - 1, hourMs),
  ),
  minute: fc.integer({ min: 1, max: 6 }),
  hour: fc.integer({ min: 1, max: 12 }),
  count: fc.boolean(),
})

t.test('both windows match a count of every request, however wall time steps', async (t) => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const model = naive()
      const limiter = rateLimiter()
      let now = 1_700_000_000_000
      let stepped = 0
      for (const { wait, stepped: by, minute, hour, count } of steps) {
        now += wait
        stepped += by
        const resetOf = (oldest: number | undefined, ms: number) =>
          Math.ceil(((oldest ?? now) + ms + stepped) / 1000)
        const limits = { minute, hour }
        const full = model.check(limits, now, count)
        const standing = limiter.check(
          'key',
          limits,
          { monotonic: now, wall: now + stepped },
          count,
        )
        const oneMinute = model.within(now, minuteMs)
        const oneHour = model.within(now, hourMs)
        if (full !== (standing.refused !== undefined)) return false
        if (standing.minute.remaining !== Math.max(0, minute - oneMinute.length)) return false
        if (standing.hour.remaining !== Math.max(0, hour - oneHour.length)) return false
        if (standing.minute.reset !== resetOf(oneMinute[0], minuteMs)) return false
        if (standing.hour.reset !== resetOf(oneHour[0], hourMs)) return false
        const after = standing.refused?.retryAfter
        if (after === undefined) continue
        // Who waits so long gets through that window; a second less is too short.
        const length = standing.refused?.window === 'minute' ? minuteMs : hourMs
        const limit = limits[standing.refused?.window ?? 'minute']
        if (model.within(now + after * 1000, length).length >= limit) return false
        if (after > 1 && model.within(now + (after - 1) * 1000, length).length < limit) return false
      }
      return true
    }),
    { numRuns: 300 },
  )
  t.pass()
})

t.test('a window grows with what it holds and keeps the order', async (t) => {
  const limiter = rateLimiter()
  const check = (now: number, minute = 1_000, count = false) =>
    limiter.check('key', { minute, hour: 1_000 }, at(now), count)
  for (let n = 0; n < 500; n++) check(n * 100, 1_000, true)
  t.match(check(50_000), { minute: { remaining: 500, reset: 60 }, hour: { remaining: 500 } })
  t.match(check(84_900), { minute: { remaining: 750, reset: 85 }, hour: { remaining: 500 } })
  for (let n = 0; n < 500; n++) check(110_000 + n * 100, 1_000, true)
  t.match(check(159_900), { minute: { remaining: 500, reset: 170 }, hour: { remaining: 0 } })
  t.match(check(159_900, 500).refused, { window: 'minute', retryAfter: 11 })
  t.match(check(159_900, 501).refused, { window: 'hour', retryAfter: 3_441 })
})

t.test('keys do not count for each other', async (t) => {
  const limiter = rateLimiter()
  const limits = { minute: 1, hour: 1 }
  t.equal(limiter.check('a', limits, at(0), true).refused, undefined)
  t.equal(limiter.check('b', limits, at(0), true).refused, undefined)
  t.match(limiter.check('a', limits, at(0), true), {
    refused: { window: 'minute', retryAfter: 60 },
  })
})

t.test('after an owner’s requests have left, all places are free again', async (t) => {
  const { enter, leave } = concurrency()
  for (let round = 0; round < 3; round++) {
    t.strictSame(
      [1, 2, 3].map(() => enter('a', 2)),
      [true, true, false],
    )
    t.ok(enter('b', 1), 'another owner has places of its own')
    leave('b')
    leave('a')
    t.ok(enter('a', 2), 'one has left')
    t.notOk(enter('a', 2))
    leave('a')
    leave('a')
  }
})
