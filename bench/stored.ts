import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Request } from 'autocannon'
import { chatPath } from './baselines/same-bytes.ts'
import type { Section } from './bench.ts'
import { load } from './load.ts'
import type { Measured } from './measured.ts'
import { launch, type Serving, serve, serveProduct, serverOptions } from './processes.ts'
import { type Stored, storeSessions } from './sessions.ts'
import { steady } from './steady.ts'
import { makeTenants, openWriting } from './tenants.ts'

const sessionCount = Number(process.env.STORED_SESSIONS ?? 100_000)
const tenantCount = 500
/** One turn or two: 10 events a session on average. */
const turnsOf = (n: number): number => 1 + (n % 2)

const listOf = ({ tenant: { key } }: Stored): Request => ({
  method: 'GET',
  path: '/api/external/sessions?page_size=20',
  headers: { 'x-api-key': key },
})

const messagesOf = ({ tenant: { key }, sessionId }: Stored): Request => ({
  method: 'GET',
  path: `/api/external/sessions/${sessionId}/messages`,
  headers: { 'x-api-key': key },
})

/** How fast the whole log is folded into views that are empty, with both cores. */
const replay = async (dataDir: string): Promise<Measured[]> => {
  const child = launch({
    script: 'replaying.js',
    env: { DATA_DIR: dataDir },
    listening: true,
    core: 'any',
    options: serverOptions,
  })
  const [{ done, events, ms }] = await once(child, 'message')
  if (!done) throw new Error('the replay did not end')
  return [
    {
      name: `replay of ${events} events into all views`,
      value: (events / ms) * 1_000,
      unit: 'events/s',
      aim: { least: 80_000 },
    },
  ]
}

/**
 * Bare fastify, sending the same bytes at the same rate: the part of a latency that comes from the
 * client, the machine and Node.
 */
const floorOf = async (dir: string, product: Serving, [request]: readonly Request[]) => {
  if (!request) throw new Error('there is nothing to ask for')
  const answer = await fetch(`${product.url}${request.path}`, { headers: { ...request.headers } })
  const file = join(dir, 'same-bytes.json')
  writeFileSync(file, JSON.stringify({ json: await answer.text(), sse: '' }))
  const bare = await serve({ script: 'baselines/bare-fastify.js', env: { SAME_BYTES: file } })
  const post: Request = {
    method: 'POST',
    path: chatPath,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [] }),
  }
  try {
    await load(bare, [post], { seconds: 2, connections: 1 })
    return await steady(bare, [post], 1_000)
  } finally {
    await bare.stop()
  }
}

const reads = async (
  dir: string,
  product: Serving,
  name: string,
  requests: readonly Request[],
): Promise<Measured[]> => {
  await load(product, requests, { seconds: 2 })
  const floor = await floorOf(dir, product, requests)
  const paced = await steady(product, requests, 1_000)
  const most = await load(product, requests)
  return [
    {
      name: `${name}, its bytes from bare fastify, 1,000 a second, p50`,
      value: floor.p50,
      unit: 'ms',
    },
    {
      name: `${name}, its bytes from bare fastify, 1,000 a second, p99`,
      value: floor.p99,
      unit: 'ms',
    },
    { name: `${name}, 1,000 a second, p50`, value: paced.p50, unit: 'ms' },
    { name: `${name}, 1,000 a second, p99`, value: paced.p99, unit: 'ms', aim: { most: 5 } },
    { name: `${name}, as many as it answers`, value: most.perSecond, unit: 'req/s' },
    { name: `${name}, as many as it answers, p99`, value: most.p99, unit: 'ms' },
  ]
}

/** With 100,000 sessions and a million events stored: replay, restart, reads. */
export const benchStored: Section = async ({ dir, profile }) => {
  const dataDir = join(dir, 'stored')
  const writing = await openWriting(dataDir)
  const tenants = await makeTenants(writing, tenantCount)
  const start = performance.now()
  const stored = await storeSessions(writing, tenants, sessionCount, turnsOf)
  const seconds = (performance.now() - start) / 1_000
  const events = (await writing.events.head()) + 1
  await writing.close()
  const replayed = await replay(dataDir)

  const product = await serveProduct(dataDir, { profile })
  const memory = product.memory()
  try {
    const some = stored.filter((_, n) => n % 7 === 0)
    return [
      {
        name: 'sessions stored by this benchmark',
        value: sessionCount / seconds,
        unit: 'sessions/s',
      },
      ...replayed,
      {
        name: `restart with ${events} events`,
        value: product.startedMs / 1_000,
        unit: 's',
        aim: { most: 2 },
      },
      {
        name: `restart with ${events} events, memory`,
        value: memory,
        unit: 'MB',
        aim: { most: 300 },
      },
      ...(await reads(dir, product, 'session list', some.slice(0, 6_400).map(listOf))),
      ...(await reads(dir, product, 'messages of a session', some.slice(0, 6_400).map(messagesOf))),
      { name: 'memory after the reads', value: product.memory(), unit: 'MB' },
    ]
  } finally {
    await product.stop()
  }
}
