import { setTimeout as after } from 'node:timers/promises'
import type { Request } from 'autocannon'
import { Pool } from 'undici'
import { makeSquads } from './agent-trees.ts'
import type { Section } from './bench.ts'
import { chatRequest, productWith } from './contenders.ts'
import { alternately, medianOf } from './load.ts'
import { manyStreams } from './many-streams.ts'
import { median, percentile } from './measured.ts'
import { loadCore, type Serving, serve } from './processes.ts'

const branches = 4
const pacedStreams = 16
const idleStreams = 1_000
const stamp = /"content":"(\d{16}) "/g

type PostRequest = Pick<Request, 'path' | 'headers'> & { body: string }

const read = async (
  pool: Pool,
  { path, headers, body }: PostRequest,
  see: (text: string) => void,
) => {
  const answer = await pool.request({ method: 'POST', path, headers, body })
  if (answer.statusCode !== 200) throw new Error(`${path} was refused with ${answer.statusCode}`)
  for await (const piece of answer.body) see(String(piece))
}

/** How long tokens were under way, in microseconds, through whoever hands them on. */
const delays = async ({ url }: Serving, requests: readonly PostRequest[]): Promise<number[]> => {
  const pool = new Pool(url, { connections: requests.length })
  const all: number[] = []
  const see = (text: string) => {
    const now = (performance.timeOrigin + performance.now()) * 1_000
    for (const [, micros] of text.matchAll(stamp)) all.push(now - Number(micros))
  }
  await Promise.all(requests.map((request) => read(pool, request, see)))
  await pool.close()
  return all
}

/** Megabytes that a server takes for streams that are open and silent. */
const openStreams = async (server: Serving, requests: readonly PostRequest[]): Promise<number> => {
  const before = server.memory()
  const pool = new Pool(server.url, { connections: requests.length })
  let speaking = 0
  const streams = requests.map((request) => {
    let isSpeaking = false
    return read(pool, request, (text) => {
      if (isSpeaking || !text.includes('"content":"wait"')) return
      isSpeaking = true
      speaking++
    }).catch(() => undefined)
  })
  while (speaking < requests.length) await after(50)
  const growth = server.memory() - before
  await pool.destroy()
  await Promise.all(streams)
  return growth
}

const withBody = (request: Request): PostRequest => ({ ...request, body: request.body ?? '' })

/** Agents at work: a parallel one, what the product adds to a token, and streams that wait. */
export const benchAgents: Section = async (place) => {
  const provider = await serve({ script: 'baselines/upstream.js', core: loadCore })
  const env = { LLM_BASE_URL: `${provider.url}/v1`, LLM_MODEL: 'mock/model' }
  const { product, tenants } = await productWith(place, {
    name: 'agents',
    env,
    prepare: (writing, all) => makeSquads(writing, all, branches),
  })
  const to = (role: 'targetId' | 'stampedId' | 'silentId') =>
    tenants.map((tenant) => chatRequest(tenant, { stream: true, target_agent_id: tenant[role] }))
  try {
    const single = tenants.map((tenant) => chatRequest(tenant, { stream: true }))
    const [parallels, singles] = await alternately(
      [to('targetId'), single].map((requests) => () => manyStreams(product, requests)),
    )
    const paced = to('stampedId').slice(0, pacedStreams).map(withBody)
    const bare = paced.map((request) => ({
      ...request,
      path: '/v1/chat/completions',
      body: JSON.stringify({ model: 'stamped', stream: true, messages: [] }),
    }))
    const [through, straight] = await alternately([
      () => delays(product, paced),
      () => delays(provider, bare),
    ])
    const all = (results: readonly number[][] = []) => results.flat()
    const added = (share: number) =>
      percentile(all(through), share) - percentile(all(straight), share)

    const silent = to('silentId').map(withBody)
    const waiting = Array.from({ length: idleStreams }, (_, n) => silent[n % silent.length])
    const memory = await openStreams(
      product,
      waiting.filter((request) => request !== undefined),
    )
    const name = `parallel agent of ${branches} branches, 64 streams`
    const unit = 'streams/s'
    return [
      {
        name,
        value: medianOf(parallels, (result) => result.perSecond),
        unit,
        against: { name: 'one agent', value: medianOf(singles, (result) => result.perSecond) },
      },
      {
        name: `${name}, tokens`,
        value: medianOf(parallels, (result) => result.tokens),
        unit: 'tokens/s',
      },
      {
        name: `${name}, first token p99`,
        value: medianOf(parallels, (result) => result.p99),
        unit: 'ms',
      },
      {
        name: `latency added to a token, ${pacedStreams} streams of 100 tokens/s, p50`,
        value: added(0.5),
        unit: 'µs',
        against: { name: 'straight from the provider', value: median(all(straight)) },
      },
      {
        name: `latency added to a token, ${pacedStreams} streams of 100 tokens/s, p99`,
        value: added(0.99),
        unit: 'µs',
      },
      {
        name: `memory of an open stream, ${idleStreams} of them silent`,
        value: (memory * 1_024) / idleStreams,
        unit: 'KB',
      },
    ]
  } finally {
    await Promise.all([product, provider].map((server) => server.stop()))
  }
}
