import { once } from 'node:events'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { isToken, user } from '../support/client.ts'
import { held } from '../support/held.ts'
import { encodedFile } from '../support/library.ts'
import { raw } from '../support/raw.ts'
import { movableClock, startChat } from '../support/server.ts'
import { covering } from './covering.ts'
import { api, scene, settledContent } from './scene.ts'

type Scene = Awaited<ReturnType<typeof scene>>

const messages = user('Hi')
const megabyte = 1024 * 1024

/** Limits of a new key, and which of them are refused. */
const keyLimit = async (
  t: Test,
  name: string,
  { unset, most }: { unset: number; most: number },
) => {
  const { server, organization } = await scene(t)
  const keys = `/api/admin/organizations/${organization.organizationId}/api-keys`
  const platform = server.as((await organization.key({ scopes: ['admin:write'] })).key)
  const create = (more = {}) => platform.ask('POST', keys, { name: 'Test', ...more })
  t.equal((await create()).body[name], unset, 'unless told otherwise')
  for (const limit of [1, most]) t.equal((await create({ [name]: limit })).body[name], limit)
  for (const limit of [0, most + 1, 1.5, '1', -1])
    t.match(await create({ [name]: limit }), {
      status: 400,
      body: { error: { code: 'invalid_input', param: name } },
    })
}

/** A request that has passed the limits and whose body does not come to its end. */
const unfinished = async (url: string, key: string) => {
  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  const head = [`POST ${api('/v1/warmup')} HTTP/1.1`, 'Host: a', `X-API-Key: ${key}`]
  const body = ['Expect: 100-continue', 'Content-Type: application/json', 'Content-Length: 9']
  socket.write([...head, ...body, '', ''].join('\r\n'))
  // What the server says when the headers are in.
  await once(socket, 'data')
  return socket
}

const planLimit =
  (plan: 'basic_monthly' | 'pro_monthly', minute: number, concurrent: number) =>
  async (t: Test) => {
    const { server } = await scene(t)
    const organization = await server.platform.organization({ plan })
    const key = await organization.key({ rate_limit_minute: 1_000 })
    const other = await organization.key({ rate_limit_minute: minute - 1 })
    const limitOf = async ({ sessions }: typeof key) =>
      (await sessions()).headers.get('x-ratelimit-limit-minute')
    t.equal(await limitOf(key), String(minute), 'the plan’s is the smaller')
    t.equal(await limitOf(other), String(minute - 1), 'the key’s is the smaller')
    const opening = Array.from({ length: concurrent }, () => unfinished(server.url, key.key))
    const sockets = await Promise.all(opening)
    const refused = await other.sessions()
    t.match(refused, {
      status: 429,
      body: { error: 'rate_limit_exceeded', limit: concurrent, window: 'concurrent' },
    })
    t.equal(refused.headers.get('retry-after'), '1')
    sockets[0]?.destroy()
    let status = 429
    for (let n = 0; n < 200 && status === 429; n++) status = (await other.sessions()).status
    t.equal(status, 200, 'one that ends makes room')
    for (const socket of sockets) socket.destroy()
  }

/** What a list is asked for in one page: unless told, at most, and what is refused. */
const pageLimit = async (
  t: Test,
  { ask }: Pick<Scene, 'ask'>,
  path: string,
  [name, unset, most]: [name: string, unset: number, most: number],
) => {
  const get = (query = '') => ask('GET', `${api(path)}${query}`)
  t.equal((await get()).body[name], unset)
  for (const value of [1, most]) t.equal((await get(`?${name}=${value}`)).body[name], value)
  for (const value of [0, most + 1, -1, 'x', '1.5', ''])
    t.match(await get(`?${name}=${value}`), {
      status: 400,
      code: 'invalid_query',
      body: { detail: { [name]: [String] } },
    })
}

/** A server whose clock stands still at a whole second unless it is moved. */
const still = async (t: Test) => {
  const clock = movableClock()
  const start = Math.ceil(clock.now().getTime() / 1000) * 1000
  let ahead = 0
  const all = await scene(t, {
    clock: { ...clock, now: () => new Date(start + ahead), monotonic: () => ahead },
  })
  return {
    ...all,
    /** Unix seconds. */
    seconds: () => (start + ahead) / 1000,
    advance: (seconds: number) => {
      ahead += seconds * 1000
    },
  }
}

const windows = (headers: Headers, window = '') =>
  ['limit', 'remaining', 'reset'].map((what) =>
    Number(headers.get(`x-ratelimit-${what}${window}`) ?? Number.NaN),
  )

covering(t, 'limits', {
  'limit requests per minute per key': (t) =>
    keyLimit(t, 'rate_limit_minute', { unset: 100, most: 1_000 }),

  'limit requests per hour per key': (t) =>
    keyLimit(t, 'rate_limit_hour', { unset: 1_000, most: 100_000 }),

  'limit plan Basic': planLimit('basic_monthly', 60, 5),
  'limit plan Pro': planLimit('pro_monthly', 300, 20),

  async 'limit file size for RAG upload'(t) {
    const { rag } = await scene(t)
    const id = await rag.datastore()
    const file = (bytes: number) => encodedFile('a.txt', Buffer.alloc(bytes, 'a '))
    t.equal((await rag.upload(id, file(10 * megabyte))).status, 200)
    const large = await rag.upload(id, file(10 * megabyte + 1))
    t.match(large, { status: 400, code: 'file_too_large' })
    t.match((await rag.ask('GET', '/uploads')).body, { total: 1 })
  },

  async 'limit files per upload request'(t) {
    const { rag } = await scene(t)
    const id = await rag.datastore()
    const files = (count: number) =>
      Array.from({ length: count }, (_, n) => encodedFile(`${n}.txt`, 'a'))
    for (const count of [0, 11])
      t.match(await rag.upload(id, ...files(count)), {
        status: 400,
        body: { detail: [{ loc: ['body', 'files'] }] },
      })
    for (const count of [1, 10])
      t.equal((await rag.upload(id, ...files(count))).body.uploads.length, count)
  },

  async 'limit request payload'(t) {
    const { server, key, rag } = await scene(t)
    const ask = raw(server.url)
    const padded = (bytes: number) => ({
      method: 'POST',
      headers: { 'x-api-key': key.key, 'content-type': 'application/json' },
      body: JSON.stringify({ messages }).padEnd(bytes),
    })
    const chat = api('/v1/chat/completions')
    t.equal((await ask(chat, padded(10 * megabyte))).status, 200)
    t.match(await ask(chat, padded(10 * megabyte + 1)), {
      status: 413,
      body: { error: { code: 'payload_too_large' } },
    })
    const id = await rag.datastore()
    const half = (name: string, more = 0) =>
      encodedFile(name, Buffer.alloc(5 * megabyte + more, 'a '))
    t.equal((await rag.upload(id, half('a.txt'), half('b.txt'))).status, 200, 'decoded, in total')
    t.match(await rag.upload(id, half('a.txt'), half('b.txt', 1)), {
      status: 413,
      code: 'payload_too_large',
    })
  },

  'limit sessions list page_size': async (t) =>
    pageLimit(t, await scene(t), '/sessions', ['page_size', 20, 100]),

  async 'limit session messages page_size'(t) {
    const all = await scene(t)
    await all.key.chat({ messages, session_id: 'mine' })
    await pageLimit(t, all, '/sessions/mine/messages', ['page_size', 50, 200])
  },

  'limit content list page_size': async (t) =>
    pageLimit(t, await scene(t), '/content', ['page_size', 20, 100]),

  'limit uploads list limit': async (t) =>
    pageLimit(t, await scene(t), '/rag/uploads', ['limit', 50, 100]),

  async 'limit content retries'(t) {
    const { ask, key, generated } = await scene(t)
    const { id } = await generated('video')
    t.match((await ask('GET', api(`/content/${id}`))).body, { retry_count: 0, max_retries: 3 })
    const statuses: number[] = []
    for (let n = 0; n < 4; n++) {
      statuses.push((await ask('POST', api(`/content/${id}/retry`))).status)
      await settledContent(key)
    }
    t.strictSame(statuses, [200, 200, 200, 400])
    t.match((await ask('GET', api(`/content/${id}`))).body, { retry_count: 3, max_retries: 3 })
  },

  async 'limit session processing time-out'(t) {
    const clock = movableClock()
    const { key, provider } = await startChat(t, undefined, { clock })
    const turn = held()
    provider.next(turn.reply)
    const stream = await key.stream({ messages, session_id: 'mine' })
    await stream.until(isToken)
    clock.advance(30 * 60_000 - 1_000)
    t.match((await key.status('mine')).body, { is_processing: true })
    clock.advance(1_000)
    t.match((await key.status('mine')).body, {
      session_id: 'mine',
      is_processing: false,
      timed_out: true,
      message: /cancelled automatically/,
    })
    turn.go()
    await stream.all()
  },

  async 'limit user keys per user'(t) {
    const { organization } = await scene(t)
    const own = await organization.key({ type: 'user' })
    const create = () => own.ask('POST', '/api/me/api-keys', { name: 'More' })
    for (let n = 2; n <= 5; n++) t.equal((await create()).status, 201, `key ${n}`)
    t.match(await create(), { status: 409, body: { error: { code: 'key_limit_reached' } } })
    const [first] = (await own.ask('GET', '/api/me/api-keys')).body.api_keys.slice(1)
    t.equal((await own.ask('DELETE', `/api/me/api-keys/${first.key_id}`)).status, 204)
    t.equal((await create()).status, 201, 'a revoked one makes room')
  },

  async 'limit connect link lifetime'(t) {
    const clock = movableClock()
    const { server, organization, ask, provisioned } = await scene(t, { clock })
    const agent_id = await organization.agent({ name: 'Shop', tools: [shopCall('SHOP')] })
    const users = api(`/management/users/${await provisioned('ann@example.com')}`)
    const request = { agent_id, return_url: 'https://partner.example/' }
    const { status, body } = await ask('POST', `${users}/connect-links`, request)
    t.equal(status, 201)
    const left = Date.parse(body.expires_at) - clock.now().getTime()
    t.ok(left > 29 * 60_000 && left <= 30 * 60_000)
    const { pathname } = new URL(body.url)
    const open = async () => (await raw(server.url)(pathname)).status
    t.strictSame([await open(), await open()], [200, 200], 'reusable until then')
    clock.advance(left - 5_000)
    t.equal(await open(), 200)
    clock.advance(5_001)
    t.equal(await open(), 404)
  },

  async 'limit items of one kind on a connect page'(t) {
    const { organization, ask, provisioned } = await scene(t)
    const tools = Array.from({ length: 21 }, (_, n) => shopCall(`C_${String(n).padStart(2, '0')}`))
    const agent_id = await organization.agent({ name: 'Many', tools })
    const users = api(`/management/users/${await provisioned('ann@example.com')}`)
    const { body } = await ask('GET', `${users}/connect-status?agent_id=${agent_id}`)
    t.equal(body.items.length, 20)
    t.strictSame(body.skipped, [{ name: 'C_20', reason: 'too_many_items' }])
  },

  async 'limit warmed instance idle release'(t) {
    const clock = movableClock()
    const { ask, server } = await scene(t, { clock })
    const warmup = async () => (await ask('POST', api('/v1/warmup'))).body.status
    t.strictSame([await warmup(), await warmup()], ['built', 'warm'])
    clock.advance(3_590_000)
    await server.tick()
    t.equal(await warmup(), 'warm')
    clock.advance(3_600_000)
    await server.tick()
    t.equal(await warmup(), 'built', 'an hour after its last use')
  },
})

const shopCall = (credential: string) => ({
  type: 'api_call',
  name: credential.toLowerCase(),
  method: 'GET',
  url: 'https://shop.example/',
  headers: { authorization: `{{credential:${credential}}}` },
})

covering(t, 'rate-limit rules', {
  async 'rate limit 1'(t) {
    const { organization, advance } = await still(t)
    const key = await organization.key({ rate_limit_minute: 2, rate_limit_hour: 3 })
    const other = await organization.key({ rate_limit_minute: 2, rate_limit_hour: 3 })
    const status = async ({ sessions } = key) => (await sessions()).status
    t.equal(await status(), 200)
    advance(59)
    t.strictSame([await status(), await status()], [200, 429])
    t.equal(await status(other), 200, 'independent between keys')
    advance(1)
    t.strictSame([await status(), await status()], [200, 429], 'the window slides')
    advance(3_538)
    t.equal((await key.sessions()).body.window, 'hour')
    advance(2)
    t.equal(await status(), 200, 'so does that of the hour')
  },

  async 'rate limit 2'(t) {
    const { organization } = await still(t)
    const key = await organization.key({ rate_limit_minute: 3 })
    const stream = await key.stream({ messages })
    t.equal(stream.headers.get('x-ratelimit-remaining-minute'), '2')
    await stream.all()
    t.match(await key.chat({}), { status: 400 }, 'a request that is refused later counts')
    const last = await key.sessions()
    t.equal(last.headers.get('x-ratelimit-remaining-minute'), '0', 'a stream counts as one')
    t.match(await key.chat({}), { status: 429 }, 'before it is looked at')
  },

  async 'rate limit 3'(t) {
    const { organization, seconds, advance } = await still(t)
    const key = await organization.key({ rate_limit_minute: 3, rate_limit_hour: 4 })
    const first = seconds()
    const readWindows = async (path = '/sessions') => {
      const { headers } = await key.ask('GET', api(path))
      return ['-minute', '-hour', ''].map((window) => windows(headers, window))
    }
    const [minute, hour] = [first + 60, first + 3_600]
    t.strictSame(await readWindows(), [
      [3, 2, minute],
      [4, 3, hour],
      [3, 2, minute],
    ])
    advance(10)
    t.strictSame(
      await readWindows('/none'),
      [
        [3, 1, minute],
        [4, 2, hour],
        [3, 1, minute],
      ],
      'every answer',
    )
    advance(50)
    t.strictSame(
      await readWindows('/sessions?page=0'),
      [
        [3, 1, first + 70],
        [4, 1, hour],
        [3, 1, first + 70],
      ],
      'when the oldest request leaves; the minute where both have as little left',
    )
    advance(10)
    t.strictSame(
      await readWindows(),
      [
        [3, 1, first + 120],
        [4, 0, hour],
        [4, 0, hour],
      ],
      'unsuffixed: the window with the least remaining',
    )
    t.strictSame(
      await readWindows(),
      [
        [3, 1, first + 120],
        [4, 0, hour],
        [4, 0, hour],
      ],
      'a 429 too',
    )
  },

  async 'rate limit 4'(t) {
    const { organization, seconds, advance } = await still(t)
    const key = await organization.key({ rate_limit_minute: 1 })
    const reset_at = seconds() + 60
    await key.sessions()
    advance(20)
    const limited = { limit: 1, window: 'minute', reset_at, retry_after: 40 }
    const flat = await key.sessions()
    t.strictSame(flat.body, {
      error: 'rate_limit_exceeded',
      message: 'Rate limit exceeded: 1 requests per minute',
      ...limited,
    })
    t.equal(flat.headers.get('retry-after'), '40')
    const nested = await key.chat({ messages })
    const error = { type: 'rate_limit_error', code: 'rate_limit_exceeded', ...limited }
    t.match(nested, { status: 429, body: { error } }, 'nested for stock SDKs')
    t.equal(nested.headers.get('retry-after'), '40')
    const hourly = await organization.key({ rate_limit_hour: 1 })
    await hourly.sessions()
    const spent = await hourly.sessions()
    t.match(spent.body, { limit: 1, window: 'hour', retry_after: 3_600 })
    t.equal(spent.headers.get('x-should-retry'), 'false')
    advance(40)
    t.equal((await key.sessions()).status, 200, 'who waits so long gets through')
  },

  async 'rate limit 5'(t) {
    const { organization } = await still(t)
    const key = await organization.key({ rate_limit_minute: 1 })
    t.equal((await key.ask('POST', api('/v1/warmup'))).status, 200)
    t.equal((await key.ask('POST', api('/v1/warmup'))).status, 429)
  },

  async 'rate limit 6'(t) {
    const { server, organization } = await scene(t)
    const at = `/api/admin/organizations/${organization.organizationId}`
    const user_id = await organization.member()
    const admin = ['admin:read', 'admin:write']
    const request = { name: 'Own', user_id, scopes: admin, rate_limit_minute: 10 }
    const { key, key_id } = await server.platform.ask('POST', `${at.slice(10)}/api-keys`, request)
    const change = () =>
      server.as(key).ask('PATCH', `${at}/api-keys/${key_id}`, { rate_limit_minute: 900 })
    t.match(await change(), { status: 403, code: 'role_required' })
    await server.platform.ask('PATCH', `${at.slice(10)}/members/${user_id}`, { role: 'ADMIN' })
    t.match(await change(), { status: 200, body: { rate_limit_minute: 900 } })
  },
})
