import type { Request } from 'autocannon'
import { Pool } from 'undici'
import type { Section } from './bench.ts'
import { baselinesOf, chatRequest, productWith } from './contenders.ts'
import { alternately, medianOf } from './load.ts'
import { percentile } from './measured.ts'
import type { Serving } from './processes.ts'

const lanes = 64
const runMs = 4_000
const tokenMark = '"delta":{"content":'

/** When the first token came, in milliseconds after asking, and how many there were. */
type Streamed = { firstMs: number; tokens: number }

const streamed = (pool: Pool, { method, path, headers, body }: Request): Promise<Streamed> =>
  new Promise((resolve, reject) => {
    const start = performance.now()
    let firstMs = 0
    let tokens = 0
    pool.dispatch(
      { method, path, headers, body: body ?? null },
      {
        onRequestStart: () => undefined,
        onResponseStart(_, status) {
          if (status !== 200) reject(new Error(`a stream was refused with ${status}`))
        },
        onResponseData(_, chunk) {
          tokens += chunk.toString('latin1').split(tokenMark).length - 1
          if (tokens > 0) firstMs ||= performance.now() - start
        },
        onResponseEnd: () => resolve({ firstMs, tokens }),
        onResponseError: (_, error) => reject(error),
      },
    )
  })

/** 64 streams at once; each lane asks again when its answer has ended. */
const manyStreams = async ({ url, cpu }: Serving, requests: readonly Request[]) => {
  const pool = new Pool(url, { connections: lanes })
  const all: Streamed[] = []
  const before = cpu()
  const start = performance.now()
  let next = 0
  const lane = async () => {
    while (performance.now() - start < runMs) {
      const request = requests[next++ % requests.length]
      if (request) all.push(await streamed(pool, request))
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  const seconds = (performance.now() - start) / 1_000
  const used = cpu() - before
  await pool.close()
  const firsts = all.map(({ firstMs }) => firstMs)
  return {
    perSecond: all.length / seconds,
    tokens: all.reduce((sum, { tokens }) => sum + tokens, 0) / seconds,
    cpu: (used / all.length) * 1e6,
    p50: percentile(firsts, 0.5),
    p99: percentile(firsts, 0.99),
  }
}

/** Streamed answers of the offline model. */
export const benchStreams: Section = async (place) => {
  const { product, tenants } = await productWith(place, { name: 'streams' })
  const { bare, loop } = await baselinesOf(place, product, tenants)
  try {
    const requests = tenants.map((tenant) => chatRequest(tenant, { stream: true }))
    const [ours, loops, bares] = await alternately(
      [product, loop, bare].map((server) => () => manyStreams(server, requests)),
    )
    const unit = 'streams/s'
    const name = 'streams, 64 at once'
    return [
      {
        name: 'bare fastify, same stream',
        value: medianOf(bares, (one) => one.perSecond),
        unit,
      },
      {
        name,
        value: medianOf(ours, (one) => one.perSecond),
        unit,
        against: { name: 'fastify + lmdb loop', value: medianOf(loops, (one) => one.perSecond) },
      },
      {
        name: `${name}, CPU of the server`,
        value: medianOf(ours, (one) => one.cpu),
        unit: 'µs',
        against: { name: 'fastify + lmdb loop', value: medianOf(loops, (one) => one.cpu) },
      },
      { name: `${name}, tokens`, value: medianOf(ours, (one) => one.tokens), unit: 'tokens/s' },
      { name: `${name}, first token p50`, value: medianOf(ours, (one) => one.p50), unit: 'ms' },
      { name: `${name}, first token p99`, value: medianOf(ours, (one) => one.p99), unit: 'ms' },
    ]
  } finally {
    await Promise.all([product, bare, loop].map((server) => server.stop()))
  }
}
