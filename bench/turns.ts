import { join } from 'node:path'
import type { Request } from 'autocannon'
import { Pool } from 'undici'
import { v7 as uuid } from 'uuid'
import type { Section } from './bench.ts'
import { chatRequest } from './contenders.ts'
import { median } from './measured.ts'
import { serveProduct } from './processes.ts'
import { storeSessions } from './sessions.ts'
import { makeTenants, openWriting } from './tenants.ts'

const longSessions = 40
const concurrency = 8
const last = 1_000
const measured = 40

/** What a turn late in a long session costs against the second of a new one, side by side. */
export const benchTurns: Section = async ({ dir, profile }) => {
  const dataDir = join(dir, 'turns')
  const writing = await openWriting(dataDir)
  const tenants = await makeTenants(writing, longSessions)
  const sessions = await storeSessions(writing, tenants, longSessions, () => last - measured)
  await writing.close()
  const product = await serveProduct(dataDir, { profile })
  const pool = new Pool(product.url, { connections: concurrency })

  const ask = async ({ method, path, headers, body }: Request) => {
    const start = performance.now()
    const answer = await pool.request({ method, path, headers, body: body ?? null })
    const text = await answer.body.text()
    if (answer.statusCode !== 200) throw new Error(`a turn was refused: ${text}`)
    return performance.now() - start
  }

  /** One turn each, `concurrency` at a time. */
  const turns = async (requests: readonly Request[]) => {
    const before = product.cpu()
    const rest = [...requests]
    const latencies: number[] = []
    const worker = async () => {
      for (let next = rest.pop(); next; next = rest.pop()) latencies.push(await ask(next))
    }
    await Promise.all(Array.from({ length: concurrency }, worker))
    return { cpu: (product.cpu() - before) / requests.length, latency: median(latencies) }
  }

  try {
    const long = sessions.map(({ tenant, sessionId }) =>
      chatRequest(tenant, { session_id: sessionId }),
    )
    const cold = await turns(long)
    const late: { cpu: number; latency: number }[] = []
    const early: { cpu: number; latency: number }[] = []
    for (let round = 1; round < measured; round++) {
      const fresh = tenants.map((tenant) => chatRequest(tenant, { session_id: uuid() }))
      await turns(fresh)
      early.push(await turns(fresh))
      late.push(await turns(long))
    }
    const medians = (all: typeof late) => ({
      cpu: median(all.map(({ cpu }) => cpu)) * 1e6,
      latency: median(all.map(({ latency }) => latency)),
    })
    const [first, then] = [medians(early), medians(late)]
    const range = `turns ${last - measured + 2} to ${last} of a session`
    return [
      {
        name: `${range}, CPU of the server`,
        value: then.cpu,
        unit: 'µs',
        against: { name: 'turn 2', value: first.cpu },
        aim: { most: 1.2 },
      },
      {
        name: `${range}, latency`,
        value: then.latency,
        unit: 'ms',
        against: { name: 'turn 2', value: first.latency },
        aim: { most: 1.2 },
      },
      {
        name: `turn ${last - measured + 1}, read from disk after a restart, latency`,
        value: cold.latency,
        unit: 'ms',
      },
    ]
  } finally {
    await pool.close()
    await product.stop()
  }
}
