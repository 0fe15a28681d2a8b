import { once } from 'node:events'
import type { Request } from 'autocannon'
import { Pool } from 'undici'
import type { Serving } from '../processes.ts'
import type { Counted, Told } from './preload.ts'

/** What is counted of a turn. */
export type TurnCount = keyof TurnCounts
export type TurnCounts = Counted & { events: number }

type How = {
  /** Turns before those that count: code is compiled and caches are filled meanwhile. */
  warmUp: number
  turns: number
  /** How many at once. */
  atOnce: number
}

const warmingAtOnce = 16
const position = /^reprise_event_store_position (\d+)$/m

/** Counts what a server, started with `counting/preload.js`, does for a turn, on average. */
export const turnCounts = async (
  { url, child }: Serving,
  requests: readonly Request[],
  { warmUp, turns, atOnce }: How,
): Promise<TurnCounts> => {
  const pool = new Pool(url, { connections: Math.max(atOnce, warmingAtOnce) })
  let asked = 0

  const text = async ({ method, path, headers, body }: Request) => {
    const answer = await pool.request({ method, path, headers, body: body ?? null })
    const got = await answer.body.text()
    if (answer.statusCode !== 200) throw new Error(`a turn was refused: ${got}`)
    return got
  }
  const head = async () => {
    const metrics = await text({ method: 'GET', path: '/metrics', headers: {} })
    return Number(position.exec(metrics)?.[1])
  }
  const run = async (count: number, concurrency: number) => {
    let left = count
    const worker = async () => {
      while (left-- > 0) {
        const request = requests[asked++ % requests.length]
        if (request) await text(request)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, worker))
  }
  const tell = async (told: Told): Promise<Counted> => {
    child.send(told)
    const [answer] = await once(child, 'message')
    return answer
  }
  const counted = async (start: Told): Promise<TurnCounts> => {
    const before = await head()
    await tell(start)
    await run(turns, atOnce)
    const counts = await tell('stop')
    return { ...counts, events: (await head()) - before }
  }

  try {
    await run(warmUp, warmingAtOnce)
    const counts = await counted('start')
    const { promises } = await counted('start with promises')
    const ofATurn = Object.entries({ ...counts, promises }).map(([name, count]) => [
      name,
      count / turns,
    ])
    return Object.fromEntries(ofATurn)
  } finally {
    await pool.close()
  }
}
