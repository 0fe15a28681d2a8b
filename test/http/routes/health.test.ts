import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import Fastify from 'fastify'
import t from 'tap'
import { openReadiness } from '../../../src/app/readiness.ts'
import { systemClock } from '../../../src/app/system-clock.ts'
import { healthRoutes } from '../../../src/http/routes/health.ts'
import { at } from '../../support/positions.ts'
import { raw } from '../../support/raw.ts'
import { startApp } from '../../support/server.ts'

type Uses = Parameters<typeof openReadiness>[0]

const distance: Uses['events']['distance'] = (from, to) => ({
  amount: Number(to) - Number(from),
  unit: 'events',
})

const folding: Uses['prompt'] = {
  state: () => [{ name: 'sessions', position: at(7), state: 'running' }],
  checkpoint: () => at(7),
  at: () => at(7),
}

const fine: Uses = {
  events: { head: async () => at(7), distance },
  views: { checkpoint: async () => at(7) },
  prompt: folding,
  later: folding,
  failingSince: () => undefined,
  patienceMs: 20,
}

const readinessWith = async (uses: Partial<Uses>) => {
  const http = Fastify()
  http.setSerializerCompiler(() => JSON.stringify)
  const { readiness, close } = openReadiness({ ...fine, ...uses })
  http.register(healthRoutes({ version: '1', clock: systemClock, readiness }))
  const reply = await http.inject('/health/ready')
  await http.close()
  close()
  return { status: reply.statusCode, code: reply.headers['x-error-code'], body: reply.json() }
}

t.test('GET /api/health: the process answers, and so do its stores', async (t) => {
  const { url } = await startApp(t)
  const ask = raw(url)
  t.match(await ask('/api/health'), {
    status: 200,
    headers: { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' },
    body: {
      status: 'ok',
      version: /^\d+\.\d+\.\d+/,
      timestamp: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/,
    },
  })
  t.match(await ask('/api/health/ready'), {
    status: 200,
    body: {
      status: 'ok',
      checks: {
        event_store: { ok: true },
        read_models: { ok: true },
        projections: { ok: true, detail: 'lag 0' },
        damage: { ok: true },
      },
    },
  })
})

t.test('readiness names the part that is not ready', async (t) => {
  t.match(await readinessWith({}), { status: 200, code: undefined })
  const failing = async () => {
    throw Object.assign(new Error('mongodb://user:password@host'), { name: 'StoreUnavailable' })
  }
  const never = () => new Promise<never>(() => undefined)
  for (const [uses, check, detail] of [
    [{ events: { head: failing, distance } }, 'event_store', 'StoreUnavailable'],
    [{ events: { head: never, distance } }, 'event_store', 'no answer in time'],
    [
      { failingSince: () => new Date('2026-01-01T00:00:00.000Z') },
      'event_store',
      'nothing could be appended since 2026-01-01T00:00:00.000Z',
    ],
    [{ views: { checkpoint: failing } }, 'read_models', 'StoreUnavailable'],
    [{ views: { checkpoint: never } }, 'read_models', 'no answer in time'],
    [
      {
        prompt: {
          ...folding,
          state: () => [
            {
              name: 'sessions',
              position: at(3),
              state: 'stopped' as const,
              error: new Error('secret'),
            },
          ],
        },
      },
      'projections',
      'stopped: sessions',
    ],
  ] as const) {
    const { status, code, body } = await readinessWith(uses)
    t.match(
      { status, code, body },
      {
        status: 503,
        code: 'service_unavailable',
        body: { status: 'unavailable', checks: { [check]: { ok: false, detail } } },
      },
    )
    t.notMatch(JSON.stringify(body), /password|secret/)
  }
})

t.test('the store is asked for its end once in each answer', async (t) => {
  let heads = 0
  const head = async () => {
    heads++
    return at(7)
  }
  const { readiness, close } = openReadiness({
    ...fine,
    events: { head, distance },
    lookMs: 2_147_483_647,
  })
  t.teardown(close)
  t.ok((await readiness()).ready)
  t.equal(heads, 1)
})

t.test('views that are folded later stop nothing else', async (t) => {
  const state = () => [
    { name: 'usage', position: at(3), state: 'stopped' as const, error: new Error('secret') },
  ]
  t.match(await readinessWith({ later: { ...folding, state } }), {
    status: 200,
    body: {
      status: 'ok',
      checks: {
        projections: { ok: true },
        later_projections: { ok: false, detail: 'stopped: usage' },
      },
    },
  })
})

t.test('views that do not move although there is something to fold', async (t) => {
  let time = 0
  let position = 3
  let head = 3
  const { readiness, close } = openReadiness({
    ...fine,
    events: { head: async () => at(head), distance },
    prompt: { ...folding, checkpoint: () => at(position) },
    now: () => time,
  })
  t.teardown(close)
  const ready = async () => (await readiness()).checks.projections
  t.match(await ready(), { ok: true, detail: 'lag 0' })
  time = 60_000
  t.match(await ready(), { ok: true, detail: 'lag 0' }, 'nothing to fold')
  head = 5
  t.match(await ready(), { ok: true, detail: 'lag 2' }, 'since now')
  time += 5_000
  t.match(await ready(), { ok: true, detail: 'lag 2' })
  time += 1
  t.match(await ready(), { ok: false, detail: 'not moved for 5 s, lag 2' })
  t.notOk((await readiness()).ready)
  position = 4
  t.match(await ready(), { ok: true, detail: 'lag 1' }, 'they move')
  time += 6_000
  t.match(await ready(), { ok: false, detail: 'not moved for 6 s, lag 1' })
  position = 5
  t.match(await ready(), { ok: true, detail: 'lag 0' })
})

/** The value of a metric with labels, as /metrics writes it. */
const metricOf = (text: string, name: string): number =>
  Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length + 1) ?? 0,
  )

t.test('metrics move', async (t) => {
  const { url, platform } = await startApp(t)
  const ask = raw(url)
  const read = async () => {
    const { status, headers, text } = await ask('/metrics')
    t.equal(status, 200)
    t.match(headers['content-type'], /^text\/plain; version=0\.0\.4/)
    return text
  }
  const sessions = (status: number) =>
    `reprise_http_request_duration_seconds_count{method="GET",route="/api/external/sessions",status="${status}"}`
  const before = await read()
  t.equal(metricOf(before, sessions(200)), 0)
  const organization = await platform.organization()
  const key = await organization.key()
  for (let n = 0; n < 3; n++) await key.sessions()
  await key.sessions('?page=0')
  await key.messages('unknown')
  await ask('/nothing/at/all')
  const after = await read()
  t.equal(metricOf(after, sessions(200)), 3)
  t.equal(metricOf(after, sessions(400)), 1)
  t.match(after, 'route="/api/external/sessions/:session_id/messages",status="404"', 'no ids')
  t.match(after, 'route="unknown",status="404"')
  const position = 'reprise_event_store_position'
  t.ok(metricOf(after, position) > metricOf(before, position))
  t.equal(metricOf(after, 'reprise_projection_lag{unit="events"}'), 0)
  for (const name of [
    'reprise_runs_in_flight',
    'process_cpu_seconds_total',
    'nodejs_eventloop_lag_seconds',
  ])
    t.match(after, new RegExp(`^${name} `, 'm'))
  t.notMatch(after, key.key)
})

t.test('a server that stops refuses what still comes in, as a problem', async (t) => {
  const { http, url } = await startApp(t)
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.write('GET /api/health HTTP/1.1\r\nHost: a\r\n\r\nGET /api/health HTTP/1.1\r\n')
  const [first] = await once(socket, 'data')
  t.match(String(first), /^HTTP\/1\.1 200 /)
  const closing = http.close()
  while (http.server.listening) await new Promise(setImmediate)
  socket.write('Host: a\r\n\r\n')
  const answer = await text(socket)
  t.match(answer, /^HTTP\/1\.1 503 /)
  t.match(answer, /^x-error-code: service_unavailable\r$/m)
  t.match(answer, /^connection: close\r$/im)
  await closing
})
