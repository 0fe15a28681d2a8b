import autocannon, { type Request } from 'autocannon'
import { median } from './measured.ts'
import type { Serving } from './processes.ts'

const rounds = 3
const warmingUp = 4

type How = {
  seconds?: number
  connections?: number
}

/** `cpu` is what the server spent on a request, in microseconds. */
export type Loaded = { perSecond: number; p50: number; p99: number; cpu: number }

/** Puts a server under load. Each connection sends its own share of the requests repeatedly. */
export const load = async (
  { url, cpu }: Serving,
  requests: readonly Request[],
  { seconds = 4, connections = 64 }: How = {},
): Promise<Loaded> => {
  let connection = 0
  const before = cpu()
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    setupClient(client) {
      const own = connection++ % connections
      client.setRequests(requests.filter((_, n) => n % connections === own))
    },
  })
  const { errors, non2xx, '2xx': responses, latency, duration } = result
  if (errors + non2xx > 0) throw new Error(`${non2xx} requests were refused, ${errors} failed`)
  return {
    perSecond: responses / duration,
    p50: latency.p50,
    p99: latency.p99,
    cpu: ((cpu() - before) / responses) * 1e6,
  }
}

/**
 * Runs each in turn, round after round, so that other work of the machine slows all of them alike.
 * The first round compiles code and does not count. Returns the results of each.
 */
export const alternately = async <Result>(
  runs: readonly (() => Promise<Result>)[],
): Promise<Result[][]> => {
  const results: Result[][] = runs.map(() => [])
  for (let round = -warmingUp; round < rounds; round++)
    for (const [n, run] of runs.entries()) {
      const result = await run()
      if (round >= 0) results[n]?.push(result)
    }
  return results
}

export const medianOf = <Result>(
  results: readonly Result[] = [],
  pick: (result: Result) => number,
): number => median(results.map(pick))
