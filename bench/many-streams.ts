import type { Request } from 'autocannon'
import { Pool } from 'undici'
import { percentile } from './measured.ts'
import type { Serving } from './processes.ts'

const concurrency = 64
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

/** 64 streams at once; each asks again when its answer has ended. */
export const manyStreams = async ({ url, cpu }: Serving, requests: readonly Request[]) => {
  const pool = new Pool(url, { connections: concurrency })
  const all: Streamed[] = []
  const before = cpu()
  const start = performance.now()
  let next = 0
  const worker = async () => {
    while (performance.now() - start < runMs) {
      const request = requests[next++ % requests.length]
      if (request) all.push(await streamed(pool, request))
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
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
