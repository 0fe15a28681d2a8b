import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Test } from 'tap'
import { allocatorSettings } from '../../bench/processes.ts'
import { forgetPeak, peakOf } from './process-state.ts'
import { providerDouble } from './provider-double.ts'
import { rounds } from './rounds.ts'
import { type Owner, type StartedServer, startServer } from './server.ts'

/**
 * Something that one tenant, or a client without a key, does to a server. Made ready first; then
 * each call does it once, and throws where an answer is not the documented one.
 */
export type Attack = (server: StartedServer) => Promise<() => Promise<void>>

const thread = new URL('health-thread.js', import.meta.url)

const quantile = (sorted: readonly number[], q: number): number =>
  Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0)

const calls = Array.from({ length: 8 }, (_, n) => ({
  name: 'note',
  arguments: { text: randomBytes(48_000).toString('base64'), n },
}))

const deepArguments = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`

/**
 * A server as it is attacked: its agents' model is the offline one, but for those of `silent/any`,
 * which reports no usage, of `calling/any`, which calls the tool `note` for ever, with much text,
 * of `deep/any`, whose calls have 20,000 levels, and of `telling/any`, which says 16,000
 * characters.
 */
export const attackedServer = async (t: Owner, env: Record<string, string> = {}) => {
  const silent = await providerDouble({ text: 'Well.', usage: null })
  const calling = await providerDouble({ calls })
  const deep = await providerDouble({ calls: [{ name: 'note', arguments: deepArguments }] })
  const verbose = await providerDouble({ text: 'x'.repeat(16_000) })
  t.teardown(silent.close)
  t.teardown(deep.close)
  t.teardown(verbose.close)
  t.teardown(calling.close)
  const providers = Object.entries({ silent, calling, deep, telling: verbose }).map(
    ([name, { url }]) => ({
      name,
      base_url: url,
    }),
  )
  const settings = {
    LLM_PROVIDERS: JSON.stringify(providers),
    // Where the attacks' tools and servers are.
    API_CALL_ALLOW_HOSTS: '127.0.0.1',
    ...allocatorSettings,
    ...env,
  }
  // Its memory is measured: it has only the options of `npm start`.
  return startServer(t, settings, { options: [] })
}

/** Asks for health all the time; `stop` tells how it was answered. */
export const watchHealth = async (url: string) => {
  const worker = new Worker(thread, { workerData: { url } })
  const failed = once(worker, 'error').then(([error]) => Promise.reject(error))
  failed.catch(() => undefined)
  await Promise.race([once(worker, 'online'), failed])
  return {
    async stop() {
      worker.postMessage('stop')
      const [took]: number[][] = await Promise.race([once(worker, 'message'), failed])
      const sorted = (took ?? []).toSorted((a, b) => a - b)
      const count = sorted.length
      return {
        count,
        p50: quantile(sorted, 0.5),
        p99: quantile(sorted, 0.99),
        most: quantile(sorted, 1),
      }
    },
  }
}

/** The most that may be seen of a server while something is done to it. */
type Limits = { p99Ms: number; grownMb: number }

/**
 * Of one attack. Health's p99 is 5 to 100 ms on a machine that does nothing else; without bounds it
 * was 6 to 120 seconds. The limit lies between, so that a slow and busy machine is not taken for a
 * fault: the thorough form runs beside other tests.
 */
const ofOne: Limits = { p99Ms: rounds(5_000, 20_000), grownMb: 500 }

/** Does something to a server; meanwhile its health is answered, and its memory is bounded. */
export const holds = async (
  t: Test,
  { url, pid, idle }: { url: string; pid: number; idle: number },
  work: () => Promise<void>,
  { p99Ms, grownMb }: Limits = ofOne,
): Promise<void> => {
  forgetPeak(pid)
  const health = await watchHealth(url)
  const began = performance.now()
  try {
    await work()
  } finally {
    const { count, p50, p99, most } = await health.stop()
    const grown = peakOf(pid) - idle
    t.comment(
      `${Math.round(performance.now() - began)} ms; health answered ${count} times: ` +
        `p50 ${p50} ms, p99 ${p99} ms, most ${most} ms; memory +${grown} MB`,
    )
    t.ok(count > 0 && p99 < p99Ms, `health's p99 is ${p99} ms`)
    t.ok(grown < grownMb, `memory grew by ${grown} MB`)
  }
}

type Reply = { status: number; code?: string | null; body?: unknown }

/** @throws Error, unless the answer has one of these statuses. */
export const expect = <R extends Reply>(reply: R, ...statuses: number[]): R => {
  if (statuses.includes(reply.status)) return reply
  const text = JSON.stringify(reply.body)?.slice(0, 500)
  throw new Error(`answered ${reply.status} instead of ${statuses.join(' or ')}: ${text}`)
}
