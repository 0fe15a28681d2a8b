import { setTimeout as after } from 'node:timers/promises'
import type { Request } from 'autocannon'
import { Pool } from 'undici'
import { percentile } from './measured.ts'
import type { Serving } from './processes.ts'

const connections = 64
const usualMs = 5_000

/**
 * Asks at fixed times, so many times a second, whether or not earlier answers have come: a server
 * that stalls is charged for everyone who waited. Answers latencies in milliseconds, each from the
 * time at which the request was due.
 */
export const steady = async (
  { url }: Serving,
  requests: readonly Request[],
  perSecond: number,
  runMs = usualMs,
): Promise<{ p50: number; p99: number }> => {
  const pool = new Pool(url, { connections, pipelining: 1 })
  const latencies: number[] = []
  const replies: Promise<void>[] = []

  const ask = async ({ method, path, headers, body: sent }: Request, due: number) => {
    const { statusCode, body } = await pool.request({ method, path, headers, body: sent ?? null })
    await body.dump()
    if (statusCode !== 200) throw new Error(`${path} was refused with ${statusCode}`)
    latencies.push(performance.now() - due)
  }

  const start = performance.now()
  const count = (runMs / 1_000) * perSecond
  for (let n = 0; n < count; n++) {
    const due = start + (n * 1_000) / perSecond
    while (performance.now() < due) await after(1)
    const request = requests[n % requests.length]
    if (request) replies.push(ask(request, due))
  }
  await Promise.all(replies)
  await pool.close()
  return { p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) }
}
