import { once } from 'node:events'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { admission } from '../../../src/http/checks/admission.ts'
import type { Access } from '../../../src/security/access.ts'
import { raw } from '../../support/raw.ts'
import { movableClock, startApp } from '../../support/server.ts'

const chat = '/api/external/v1/chat/completions'

/** A server whose clock stands still unless it is moved, at a whole second. */
const still = async (t: Test) => {
  const clock = movableClock()
  const { now } = clock
  const start = Math.ceil(now().getTime() / 1000) * 1000
  let ahead = 0
  let stepped = 0
  const wall = () => start + ahead + stepped
  const frozen = { ...clock, now: () => new Date(wall()), monotonic: () => ahead }
  const server = await startApp(t, {}, { clock: frozen })
  return {
    ...server,
    /** Unix seconds. */
    seconds: () => wall() / 1000,
    advance: (seconds: number) => {
      ahead += seconds * 1000
    },
    /** Wall time alone. */
    step: (seconds: number) => {
      stepped += seconds * 1000
    },
  }
}

const unplanned: Access = {
  kind: 'organization',
  keyId: 'key-1',
  organizationId: 'organization-1',
  userId: 'user-1',
  role: 'OWNER',
  scopes: new Set(),
  keyScopes: new Set(),
  limits: { minute: 2, hour: 10 },
  plan: null,
}

const headersOf = (kind: string, limit: number, remaining: number, reset: number) => ({
  [`x-ratelimit-limit${kind}`]: String(limit),
  [`x-ratelimit-remaining${kind}`]: String(remaining),
  [`x-ratelimit-reset${kind}`]: String(reset),
})

t.test(
  'limit requests per minute per key: counted exactly, told with every answer, free again on time',
  async (t) => {
    const { url, platform, seconds, advance } = await still(t)
    const organization = await platform.organization()
    const { key } = await organization.key({ rate_limit_minute: 3 })
    const get = (path = '/sessions') =>
      raw(url)(`/api/external${path}`, { headers: { 'x-api-key': key } })
    const first = seconds()
    t.match(await get(), {
      status: 200,
      headers: {
        ...headersOf('-minute', 3, 2, first + 60),
        ...headersOf('-hour', 1000, 999, first + 3600),
        ...headersOf('', 3, 2, first + 60),
      },
    })
    advance(10)
    t.match(await get('/nothing'), {
      status: 404,
      headers: headersOf('-minute', 3, 1, first + 60),
    })
    t.match(await get('/sessions?page=0'), {
      status: 400,
      headers: headersOf('-minute', 3, 0, first + 60),
    })
    for (let n = 0; n < 5; n++)
      t.match(await get(), {
        status: 429,
        headers: {
          'retry-after': '50',
          'x-error-code': 'rate_limit_exceeded',
          'x-should-retry': undefined,
          ...headersOf('-minute', 3, 0, first + 60),
          ...headersOf('-hour', 1000, 997, first + 3600),
        },
        body: {
          error: 'rate_limit_exceeded',
          message: String,
          limit: 3,
          window: 'minute',
          reset_at: first + 60,
          retry_after: 50,
        },
      })
    advance(49)
    t.match(await get(), { status: 429, body: { retry_after: 1 } })
    advance(1)
    t.match(await get(), { status: 200, headers: headersOf('-minute', 3, 0, first + 70) })
    t.match(await get(), { status: 429, body: { retry_after: 10 } })
    advance(10)
    t.match(await get(), { status: 200, headers: headersOf('-minute', 3, 1, first + 120) })
  },
)

t.test('limit requests per hour per key: counted too', async (t) => {
  const { url, platform, seconds, advance } = await still(t)
  const organization = await platform.organization()
  const { key } = await organization.key({ rate_limit_hour: 2 })
  const get = () => raw(url)('/api/external/sessions', { headers: { 'x-api-key': key } })
  const first = seconds()
  t.match(await get(), { status: 200, headers: headersOf('', 2, 1, first + 3600) })
  advance(600)
  t.match(await get(), { status: 200 })
  advance(600)
  t.match(await get(), {
    status: 429,
    headers: {
      'retry-after': '2400',
      'x-should-retry': 'false',
      ...headersOf('', 2, 0, first + 3600),
    },
    body: { window: 'hour', limit: 2, reset_at: first + 3600, retry_after: 2400 },
  })
})

t.test('tiles leave the windows as they are, and are answered when these are full', async (t) => {
  const { url, platform } = await still(t)
  const organization = await platform.organization()
  const { key } = await organization.key({ scopes: ['admin:read'], rate_limit_minute: 3 })
  const audit = `/api/admin/organizations/${organization.organizationId}/audit`
  const get = (path: string) => raw(url)(`${audit}/${path}`, { headers: { 'x-api-key': key } })
  const left = (remaining: number) => ({ 'x-ratelimit-remaining-minute': String(remaining) })
  t.match(await get('checkpoint'), { status: 200, headers: left(2) })
  for (const tile of ['0/000.p/1', 'entries/000.p/1', '0/000', 'entries/none'])
    t.match(await get(`tile/${tile}`), { headers: left(2) }, tile)
  await get('checkpoint')
  t.match(await get('checkpoint'), { status: 200, headers: left(0) })
  t.match(await get('checkpoint'), { status: 429 })
  t.match(await get('tile/0/000.p/1'), { status: 200, headers: left(0) })
  t.match(await get('tile/entries/000.p/1'), { status: 200, headers: left(0) })
})

t.test('tiles are among the concurrent requests', async (t) => {
  const admit = admission(movableClock())
  const access = { ...unplanned, plan: 'basic_monthly' }
  const tile = { reading: true, counted: false }
  const admitted = Array.from({ length: 5 }, () => admit(access, tile))
  for (const admittance of admitted) t.match(admittance, { refusal: undefined })
  t.match(admit(access, tile), {
    refusal: { code: 'rate_limit_exceeded', facts: { window: 'concurrent' } },
    standing: { minute: { remaining: 2 } },
  })
  admitted[0]?.leave()
  t.match(admit(access, tile), { refusal: undefined })
})

t.test('a clock step of an hour neither locks a key out nor frees one', async (t) => {
  const { url, platform, seconds, advance, step } = await still(t)
  const organization = await platform.organization()
  const { key } = await organization.key({ rate_limit_minute: 1 })
  const get = () => raw(url)('/api/external/sessions', { headers: { 'x-api-key': key } })
  t.match(await get(), { status: 200 })
  advance(2)
  step(-3_600)
  t.match(await get(), {
    status: 429,
    headers: { 'retry-after': '58', ...headersOf('-minute', 1, 0, seconds() + 58) },
    body: { retry_after: 58, reset_at: seconds() + 58 },
  })
  step(7_200)
  t.match(await get(), {
    status: 429,
    headers: { 'retry-after': '58', ...headersOf('-minute', 1, 0, seconds() + 58) },
  })
  step(-3_600)
  advance(58)
  t.match(await get(), { status: 200, headers: headersOf('-minute', 1, 0, seconds() + 60) })
})

t.test('rate limit 4: stock SDKs get the nested variant on /v1', async (t) => {
  const { platform } = await startApp(t)
  const organization = await platform.organization()
  const key = await organization.key({ rate_limit_minute: 1 })
  await key.sessions()
  t.match(await key.chat({ messages: [] }), {
    status: 429,
    body: {
      error: {
        message: String,
        type: 'rate_limit_error',
        code: 'rate_limit_exceeded',
        limit: 1,
        window: 'minute',
        reset_at: Number,
        retry_after: Number,
      },
    },
  })
})

t.test('the smaller of the limits of key and plan', async (t) => {
  const { platform } = await startApp(t)
  for (const [plan, keyLimit, limit] of [
    ['basic_monthly', 1_000, '60'],
    ['basic_monthly', 59, '59'],
    ['pro_monthly', 1_000, '300'],
    ['pro_monthly', 100, '100'],
    [null, 1_000, '1000'],
  ] as const) {
    const organization = await platform.organization({ plan })
    const key = await organization.key({ rate_limit_minute: keyLimit })
    const { headers } = await key.sessions()
    t.equal(headers.get('x-ratelimit-limit-minute'), limit)
  }
})

t.test('rate limit 1: keys are limited apart from each other', async (t) => {
  const { platform } = await startApp(t)
  const organization = await platform.organization()
  const [first, second] = [
    await organization.key({ rate_limit_minute: 1 }),
    await organization.key({ rate_limit_minute: 1 }),
  ]
  t.equal((await first.sessions()).status, 200)
  t.equal((await first.sessions()).status, 429)
  t.equal((await second.sessions()).status, 200)
})

/** A request that has passed the limits and whose body does not come to its end. */
const unfinished = async (url: string, key: string) => {
  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  const head = [`POST ${chat} HTTP/1.1`, 'Host: a', `X-API-Key: ${key}`, 'Expect: 100-continue']
  const body = ['Content-Type: application/json', 'Content-Length: 10', '', '']
  socket.write([...head, ...body].join('\r\n'))
  // What the server says when the headers are in.
  await once(socket, 'data')
  return socket
}

t.test(
  'concurrent requests are limited by the plan, for each user of an organization',
  async (t) => {
    const { url, platform } = await startApp(t)
    const organization = await platform.organization({ plan: 'basic_monthly' })
    const [holder, colleague] = [await organization.key(), await organization.key()]
    const stranger = await (await platform.organization({ plan: 'basic_monthly' })).key()
    const sockets = await Promise.all(Array.from({ length: 5 }, () => unfinished(url, holder.key)))
    const refused = await colleague.sessions()
    t.match(refused, {
      status: 429,
      code: 'rate_limit_exceeded',
      body: { error: 'rate_limit_exceeded', limit: 5, window: 'concurrent', retry_after: 1 },
    })
    t.equal(refused.headers.get('retry-after'), '1')
    t.equal(refused.headers.get('x-ratelimit-remaining-minute'), '60', 'it is not counted')
    t.equal((await stranger.sessions()).status, 200)
    const [first] = sockets
    first?.destroy()
    let status = 429
    for (let n = 0; n < 50 && status === 429; n++) status = (await colleague.sessions()).status
    t.equal(status, 200, 'one that ends makes room')
    for (const socket of sockets) socket.destroy()
  },
)

t.test('without a plan, as many at once as the smallest plan allows', async (t) => {
  const { url, platform } = await startApp(t)
  const organization = await platform.organization({ plan: null })
  const [first, second] = [await organization.key(), await organization.key()]
  const sockets = await Promise.all(Array.from({ length: 5 }, () => unfinished(url, first.key)))
  t.match(await second.sessions(), { status: 429, body: { limit: 5, window: 'concurrent' } })
  const closed = sockets.map((socket) => {
    socket.destroy()
    return once(socket, 'close')
  })
  await Promise.all(closed)
  let status = 429
  for (let n = 0; n < 50 && status === 429; n++) status = (await second.sessions()).status
  t.equal(status, 200)
})

t.test('a plan that there is not is refused, not unlimited', async (t) => {
  const clock = movableClock()
  const admit = admission(clock)
  const access = { ...unplanned, plan: 'gold_monthly' }
  t.match(admit(access), {
    refusal: { code: 'invalid_plan', facts: { currentPlan: 'gold_monthly' } },
    standing: { minute: { limit: 2, remaining: 2 } },
  })
  t.match(admit(unplanned), { refusal: undefined }, 'none at all is another thing')
  const known = { ...access, keyId: 'key-2', userId: 'user-2', plan: 'basic_monthly' } as const
  t.match(admit({ ...known, limits: { minute: 1_000, hour: 1_000 } }), {
    refusal: undefined,
    standing: { minute: { limit: 60 } },
  })
})
