import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { RefusalCode } from '../../domain/refusal-words.ts'
import type { WatchRun } from '../../turns/watch-run.ts'

/**
 * Names of models come from agents' configurations, and so from tenants: more than these count as
 * `other`.
 */
const mostModels = 100
const perCredit = 1_000_000
const seconds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]

/** Names as they come, up to so many. */
const bounded = (most: number) => {
  const known = new Set<string>()
  return (name: string): string => {
    if (!known.has(name)) {
      if (known.size >= most) return 'other'
      known.add(name)
    }
    return name
  }
}

const outcomes = {
  done: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
  timed_out: 'timed_out',
  limited: 'limited',
  lost: 'lost',
  paused: 'paused',
  handed_over: 'handed_over',
} as const

/** How runs end that cost something. */
const charged: ReadonlySet<string> = new Set(['done', 'cancelled', 'limited'])

/** What the process does for its clients: runs, models, tools, refusals, queues. */
export const workMetrics = () => {
  const registry = new Registry()
  const registers = [registry]
  const modelLabel = bounded(mostModels)

  const runs = new Counter({
    name: 'reprise_runs_total',
    help: 'Runs that have ended, by outcome and the model that was asked first',
    labelNames: ['outcome', 'model'],
    registers,
  })
  const tokens = new Counter({
    name: 'reprise_tokens_total',
    help: 'Tokens of runs, by model and direction',
    labelNames: ['model', 'direction'],
    registers,
  })
  const charges = new Counter({
    name: 'reprise_charged_credits_total',
    help: 'Credits that runs cost, by model',
    labelNames: ['model'],
    registers,
  })
  const calls = new Histogram({
    name: 'reprise_model_call_duration_seconds',
    help: 'Time from asking a model to the end of its answer',
    labelNames: ['model'],
    buckets: seconds,
    registers,
  })
  const errors = new Counter({
    name: 'reprise_model_errors_total',
    help: 'Runs that ended while a model was asked, by the code that clients are told',
    labelNames: ['code'],
    registers,
  })
  const firstTokens = new Histogram({
    name: 'reprise_time_to_first_token_seconds',
    help: 'Time from the beginning of a run to its first text, by the model that said it',
    labelNames: ['model'],
    buckets: seconds,
    registers,
  })
  const tools = new Counter({
    name: 'reprise_tool_calls_total',
    help: 'Calls of tools, by outcome',
    labelNames: ['outcome'],
    registers,
  })
  const refusals = new Counter({
    name: 'reprise_refusals_total',
    help: 'Requests, frames and calls that were refused, by code',
    labelNames: ['code'],
    registers,
  })
  /** By name: how many wait or are worked on. */
  const queues = new Map<string, () => number>()
  new Gauge({
    name: 'reprise_queue_length',
    help: 'What waits or is worked on in this process: uploads to index, contents to generate',
    labelNames: ['queue'],
    registers,
    collect() {
      for (const [queue, length] of queues) this.set({ queue }, length())
    },
  })

  const watchRun: WatchRun = () => {
    const began = performance.now()
    const asked = new Map<string, { model: string; at: number }>()
    let first: string | undefined
    let silent = true
    return {
      see(event) {
        if (event.event === 'token') {
          if (!silent) return
          silent = false
          const model = asked.get(event.step_id)?.model ?? 'none'
          firstTokens.observe({ model }, (performance.now() - began) / 1000)
        } else if (event.event === 'model_called') {
          const model = modelLabel(event.model)
          first ??= model
          asked.set(event.step_id, { model, at: performance.now() })
        } else if (event.event === 'model_answered') {
          const call = asked.get(event.step_id)
          asked.delete(event.step_id)
          const model = modelLabel(event.model)
          if (call) calls.observe({ model }, (performance.now() - call.at) / 1000)
        } else if (event.event === 'tool_completed')
          tools.inc({ outcome: event.ok ? 'ok' : 'failed' })
      },
      ended({ ended, done, refusal }) {
        runs.inc({ outcome: done.in_doubt ? 'in_doubt' : outcomes[ended], model: first ?? 'none' })
        if (refusal && asked.size > 0 && ended !== 'limited') errors.inc({ code: refusal.code })
        // Its attempts are counted together, at its end.
        if (ended === 'paused') return
        for (const { model: name, usage, charge } of done.charges) {
          const model = modelLabel(name)
          tokens.inc({ model, direction: 'prompt' }, usage.promptTokens)
          tokens.inc({ model, direction: 'completion' }, usage.completionTokens)
          if (charged.has(ended)) charges.inc({ model }, charge / perCredit)
        }
      },
    }
  }

  return {
    registry,
    watchRun,
    refused: (code: RefusalCode): void => refusals.inc({ code }),
    queue: (name: string, length: () => number): void => {
      queues.set(name, length)
    },
    /** All that the registry has, as of now. */
    now: async () =>
      (await registry.getMetricsAsJSON()).map((one) => ({ ...one, type: String(one.type) })),
  }
}
export type WorkMetrics = ReturnType<typeof workMetrics>
