import t from 'tap'
import type { RefusalEvent } from '../../src/domain/access-refusals/events.ts'
import { refusalMeter } from '../../src/metering/refusal-meter.ts'
import type { Call } from '../../src/ports/call.ts'
import { call } from '../support/recorded.ts'

type Setting = Partial<Parameters<typeof refusalMeter>[0]>

/** A meter, what it has recorded, and a clock in seconds. */
const metering = (setting: Setting = {}) => {
  const recorded: (RefusalEvent & { call: Call })[] = []
  let seconds = 0
  let stepped = 0
  const now = () => new Date(Date.UTC(2026, 0, 1) + (seconds + stepped) * 1_000)
  const meter = refusalMeter({
    record: async (event, call) => void recorded.push({ ...event, call }),
    clock: { now, monotonic: () => seconds * 1_000, id: () => 'id' },
    sweepMs: 3_600_000,
    ...setting,
  })
  return {
    ...meter,
    recorded,
    /** Wall time steps by so many seconds. */
    step: (by: number) => {
      stepped += by
    },
    refuse(at: number, code = 'insufficient_scopes', more: Partial<Call> = {}) {
      seconds = at
      meter.refused({
        code,
        status: 403,
        call: { ...call, ...more, at: now().toISOString() },
        method: 'GET',
        route: '/api/external/agents',
        askedFor: undefined,
      })
    },
  }
}

const kind = { status: 403, method: 'GET', route: '/api/external/agents' }

t.test('the first of a kind is told, then how many more there were', async (t) => {
  const { refuse, recorded, close } = metering()
  for (const at of [0, 10, 20, 59]) refuse(at)
  refuse(30, 'no_subscription')
  t.strictSame(
    recorded.map(({ type, data }) => [type, 'code' in data && data.code]),
    [
      ['AccessRefused', 'insufficient_scopes'],
      ['AccessRefused', 'no_subscription'],
    ],
  )
  refuse(61)
  t.strictSame(recorded.slice(2), [
    {
      type: 'AccessRefusedAgain',
      data: {
        code: 'insufficient_scopes',
        ...kind,
        count: 3,
        from: '2026-01-01T00:00:10.000Z',
        to: '2026-01-01T00:00:59.000Z',
      },
      call: { ...call, at: '2026-01-01T00:00:59.000Z' },
    },
    {
      type: 'AccessRefused',
      data: { code: 'insufficient_scopes', ...kind },
      call: { ...call, at: '2026-01-01T00:01:01.000Z' },
    },
  ])
  refuse(62)
  await close()
  t.match(recorded.slice(4), [{ type: 'AccessRefusedAgain', data: { count: 1 } }])
})

t.test('a flood costs neither memory nor events without bound', async (t) => {
  const { refuse, recorded, close } = metering({ organizationKinds: 5 })
  for (let n = 0; n < 10_000; n++) refuse(0, 'rate_limit_exceeded', { keyId: `key-${n % 50}` })
  t.equal(recorded.length, 5)
  await close()
  t.equal(recorded.length, 11)
})

t.test('counts an organization with too many kinds in one summary a minute', async (t) => {
  const { refuse, recorded, close } = metering({ organizationKinds: 2 })
  for (let n = 0; n < 10; n++) refuse(n, 'rate_limit_exceeded', { keyId: `key-${n}` })
  refuse(20, 'no_subscription', { keyId: 'key-20' })
  refuse(70, 'rate_limit_exceeded', { keyId: 'key-30' })
  await close()
  const summaries = recorded.filter(({ type }) => type === 'AccessRefusalsSummarized')
  t.match(summaries, [
    {
      data: {
        count: 9,
        from: '2026-01-01T00:00:02.000Z',
        to: '2026-01-01T00:00:20.000Z',
        codes: { rate_limit_exceeded: 8, no_subscription: 1 },
      },
      call: { organizationId: 'org-1', keyId: null, userId: null },
    },
    { data: { count: 1, codes: { rate_limit_exceeded: 1 } } },
  ])
  t.equal(summaries.length, 2)
})

t.test("tells another organization's refusals during a flood", async (t) => {
  const { refuse, recorded, close } = metering()
  for (let n = 0; n < 30_000; n++) refuse(0, 'rate_limit_exceeded', { keyId: `key-${n}` })
  refuse(1, 'insufficient_scopes', { organizationId: 'org-2', keyId: 'key-a' })
  t.match(recorded.at(-1), { type: 'AccessRefused', call: { organizationId: 'org-2' } })
  await close()
})

t.test('summarizes the refusals of an organization beyond the kinds of all', async (t) => {
  const { refuse, recorded, close } = metering({ maxKinds: 3 })
  for (let n = 0; n < 3; n++) refuse(0, 'no_subscription', { organizationId: `org-${n}` })
  refuse(0, 'no_subscription', { organizationId: 'org-9' })
  await close()
  t.match(recorded.slice(3), [
    {
      type: 'AccessRefusalsSummarized',
      data: { count: 1, codes: { no_subscription: 1 } },
      call: { organizationId: 'org-9' },
    },
  ])
  t.equal(recorded.length, 4)
})

t.test('where storing is slow, refusals are counted', async (t) => {
  const waiting: (() => void)[] = []
  const recorded: RefusalEvent[] = []
  const { refuse, close } = metering({
    maxWriting: 2,
    record: (event) => {
      recorded.push(event)
      return new Promise((resolve) => waiting.push(resolve))
    },
  })
  for (let n = 0; n < 5; n++) refuse(0, 'no_subscription', { keyId: `key-${n}` })
  t.equal(recorded.length, 2)
  const closed = close()
  t.equal(recorded.length, 5, 'each of the others as a count')
  for (const resolve of waiting) resolve()
  await closed
})

t.test('refusals of a minute are one count, in order, though the clock steps', async (t) => {
  const { refuse, recorded, step, close } = metering()
  for (const at of [0, 10]) refuse(at)
  step(-3_600)
  for (const at of [20, 30]) refuse(at)
  await close()
  t.match(recorded, [
    { type: 'AccessRefused' },
    {
      type: 'AccessRefusedAgain',
      data: { count: 3, from: '2026-01-01T00:00:10.000Z', to: '2026-01-01T00:00:10.000Z' },
    },
  ])
  t.equal(recorded.length, 2)
})
