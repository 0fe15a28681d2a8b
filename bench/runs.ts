import type { Section } from './bench.ts'
import type { Held } from './counting/preload.ts'
import { turnCounts } from './counting/turn-counts.ts'
import { type Measured, median } from './measured.ts'
import {
  agentClient,
  agentRequest,
  concurrently,
  heldBy,
  inTurn,
  type Kind,
  pauseRuns,
  toolPlaces,
} from './paused-runs.ts'
import { loadCore, type Serving, serveProduct } from './processes.ts'
import type { Worker } from './working-agents.ts'

const tenantCount = 100
const counted = { warmUp: 300, turns: 300, atOnce: 1 }
const timed = 1_000
const resumed = 40
const pausedRuns = 10_000

/** Commits and events of turns with three calls, beside a turn without any. */
const commits = async (product: Serving, workers: readonly Worker[]): Promise<Measured[]> => {
  const measured: Measured[] = []
  const kinds = { plain: 'no tools', reading: '3 tools that read', writing: '3 tools that write' }
  for (const [kind, what] of Object.entries(kinds)) {
    const requests = workers.map((worker) => agentRequest(worker, kind as Kind))
    const { logCommits, events, bytes } = await turnCounts(product, requests, counted)
    measured.push(
      { name: `turn with ${what}, commits of the log`, value: logCommits, unit: '' },
      { name: `turn with ${what}, events`, value: events, unit: '' },
      { name: `turn with ${what}, allocated`, value: bytes / 1_024, unit: 'KB' },
    )
  }
  return measured
}

const cpuOfTurns = async (product: Serving, workers: readonly Worker[]): Promise<Measured[]> => {
  const client = agentClient(product)
  const cpuOf = async (kind: Kind) => {
    const turn = async (n: number) =>
      void (await client.textOf(agentRequest(inTurn(workers, n), kind)))
    await concurrently(timed, turn)
    const before = product.cpu()
    await concurrently(timed, turn)
    return ((product.cpu() - before) / timed) * 1e6
  }
  const against = { name: 'no tools', value: await cpuOf('plain') }
  const unit = 'µs'
  const measured: Measured[] = [
    { name: 'turn with 3 tools that read, CPU', value: await cpuOf('reading'), unit, against },
    { name: 'turn with 3 tools that write, CPU', value: await cpuOf('writing'), unit, against },
  ]
  await client.close()
  return measured
}

/** From a decision to the run's end, after 50 recorded steps and after one. */
const resumes = async (product: Serving, workers: readonly Worker[]): Promise<Measured[]> => {
  const client = agentClient(product)
  const latencies = async (kind: 'asking' | 'askingLate') => {
    const durations: number[] = []
    for (let n = -5; n < resumed; n++) {
      const paused = await client.pause(inTurn(workers, n + 5), kind)
      const startedAt = performance.now()
      await client.goOn(paused)
      if (n >= 0) durations.push(performance.now() - startedAt)
    }
    return median(durations)
  }
  const value = await latencies('askingLate')
  const against = { name: 'after 1 step', value: await latencies('asking') }
  await client.close()
  return [{ name: 'resume after 50 steps, to the run’s end, p50', value, unit: 'ms', against }]
}

type Start = { startedMs: number; held: Held }

/** What runs that wait cost: while they come to wait, and at a start with them. */
const waiting = async (
  name: string,
  start: () => Promise<Serving>,
  workers: readonly Worker[],
): Promise<Measured[]> => {
  const measureStart = async (): Promise<Start> => {
    const product = await start()
    const held = await heldBy(product)
    await product.stop()
    return { startedMs: product.startedMs, held }
  }
  const empty = await measureStart()
  const product = await start()
  const before = await heldBy(product)
  const began = performance.now()
  await pauseRuns(product, workers, pausedRuns)
  const perSecond = (pausedRuns / (performance.now() - began)) * 1_000
  const after = await heldBy(product)
  await product.stop()
  const full = await measureStart()
  const each = (more: number) => more / pausedRuns
  return [
    { name: `${name}, as they come`, value: perSecond, unit: 'runs/s' },
    {
      name: `${name}, heap kept for each by the server that ran them`,
      value: each(after.heap - before.heap),
      unit: 'B',
    },
    {
      name: `${name}, heap kept for each after a restart`,
      value: each(full.held.heap - empty.held.heap),
      unit: 'B',
    },
    {
      name: `${name}, timers more`,
      value: (after.resources.Timeout ?? 0) - (before.resources.Timeout ?? 0),
      unit: '',
    },
    {
      name: `${name}, restart`,
      value: full.startedMs,
      unit: 'ms',
      against: { name: 'without', value: empty.startedMs },
    },
  ]
}

/** Runs that call tools, that wait, and that go on. */
export const benchRuns: Section = async ({ dir, profile }) => {
  const places = await toolPlaces({ dir }, loadCore)
  const { env } = places
  const preload = 'counting/preload.js'
  const measured: Measured[] = []
  const during = async (
    product: Serving,
    measure: (product: Serving) => Promise<Measured[]>,
  ): Promise<void> => {
    try {
      measured.push(...(await measure(product)))
    } finally {
      await product.stop()
    }
  }
  try {
    const { dataDir, workers } = await places.make('runs', tenantCount)
    const counting = await serveProduct(dataDir, { env, preload })
    await during(counting, (product) => commits(product, workers))
    const product = await serveProduct(dataDir, { env, profile })
    await during(product, async (server) => [
      ...(await cpuOfTurns(server, workers)),
      ...(await resumes(server, workers)),
    ])
    const place = await places.make('paused', tenantCount)
    const start = () => serveProduct(place.dataDir, { env, preload })
    measured.push(...(await waiting(`${pausedRuns} paused runs`, start, place.workers)))
    return measured
  } finally {
    await places.stop()
  }
}
