import { once } from 'node:events'
import { setTimeout as after } from 'node:timers/promises'
import type { Request } from 'autocannon'
import { Pool } from 'undici'
import type { Serving } from '../processes.ts'
import type { Counters } from './counters.ts'
import type { Counted, CountingCommand } from './preload.ts'

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
/** Longer than changes of the views wait to be written. */
const viewsWaitMs = 1_200
const position = /^reprise_event_store_position (\d+)$/m

/** Counts what a server, started with `counting/preload.js`, does for a turn, on average. */
export const turnCounts = async (
  { url, child }: Serving,
  requests: readonly Request[],
  { warmUp, turns, atOnce }: How,
): Promise<TurnCounts> => {
  const pool = new Pool(url, { connections: Math.max(atOnce, warmingAtOnce) })
  let sentCount = 0

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
        const request = requests[sentCount++ % requests.length]
        if (request) await text(request)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, worker))
  }
  const ask = async (command: CountingCommand) => {
    child.send(command)
    const [answer] = await once(child, 'message')
    return answer
  }
  const sendCommand = (command: CountingCommand): Promise<Counted> => ask(command)
  /** What was written into the views, once all that the turns before have changed is. */
  const viewWrites = async () => {
    for (let before = Number.NaN; ; await after(viewsWaitMs)) {
      const { viewsCommits, viewsPuts }: Counters = await ask('counts')
      if (viewsPuts === before) return { viewsCommits, viewsPuts }
      before = viewsPuts
    }
  }
  const counted = async (start: CountingCommand): Promise<TurnCounts> => {
    await viewWrites()
    const before = await head()
    await sendCommand(start)
    await run(turns, atOnce)
    const counts = await sendCommand('stop')
    const events = (await head()) - before
    return { ...counts, ...(await viewWrites()), events }
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
