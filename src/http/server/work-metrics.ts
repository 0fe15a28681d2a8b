import { Gauge, Registry } from 'prom-client'
import { creditUnit } from '../../domain/amounts.ts'
import type { RefusalCode } from '../../domain/refusal-words.ts'
import type { WatchRun } from '../../turns/run/watch-run.ts'
import { counter, countsBy, histogram, type Observed, plus } from './counted.ts'

/** Label for models that are not configured. */
const other = 'other'
/** Where none was asked. */
const noModel = 'none'
const seconds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]

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
const charged: ReadonlySet<string> = new Set([
  'done',
  'cancelled',
  'limited',
  'failed',
  'timed_out',
])

/** What is counted by model. */
const modelCounts = (name: string, { calls, firstTokens }: Histograms) => {
  const labels = { model: name }
  let callsHere: Observed | undefined
  let firstHere: Observed | undefined
  return {
    /** By outcome. */
    runs: new Map<string, number>(),
    /** Undefined until one has ended. */
    tokens: undefined as { prompt: number; completion: number } | undefined,
    credits: undefined as number | undefined,
    called(inSeconds: number): void {
      callsHere ??= calls.of(labels)
      callsHere.observe(inSeconds)
    },
    began(inSeconds: number): void {
      firstHere ??= firstTokens.of(labels)
      firstHere.observe(inSeconds)
    },
  }
}
type ModelCounts = ReturnType<typeof modelCounts>
type Histograms = Readonly<Record<'calls' | 'firstTokens', ReturnType<typeof histogram<'model'>>>>

/**
 * What the process does for its clients: runs, models, tools, refusals, queues. Counted in plain
 * numbers, which become metrics when somebody asks for them. Only the models in `configured` are
 * labels: names in agents' configurations are chosen by tenants.
 */
export const workMetrics = (configured: ReadonlySet<string>) => {
  const registry = new Registry()
  const registers = [registry]

  const histograms = {
    calls: histogram({
      name: 'reprise_model_call_duration_seconds',
      help: 'Time from asking a model to the end of its answer',
      labelNames: ['model'],
      buckets: seconds,
      registry,
    }),
    firstTokens: histogram({
      name: 'reprise_time_to_first_token_seconds',
      help: 'Time from the beginning of a run to its first text, by the model that said it',
      labelNames: ['model'],
      buckets: seconds,
      registry,
    }),
  }
  const models = new Map<string, ModelCounts>()
  for (const name of [other, noModel]) models.set(name, modelCounts(name, histograms))
  const countsOf = (name: string): ModelCounts => {
    const known = models.get(name)
    if (known) return known
    if (!configured.has(name)) return countsOf(other)
    const counts = modelCounts(name, histograms)
    models.set(name, counts)
    return counts
  }
  const errors = new Map<string, number>()
  const tools = new Map<string, number>()
  const refusals = new Map<string, number>()

  counter(
    {
      registry,
      name: 'reprise_runs_total',
      help: 'Runs that have ended, by outcome and the model that was asked first',
      labelNames: ['outcome', 'model'],
    },
    function* () {
      for (const [model, { runs }] of models)
        for (const [outcome, value] of runs) yield [{ outcome, model }, value]
    },
  )
  counter(
    {
      registry,
      name: 'reprise_tokens_total',
      help: 'Tokens of runs, by model and direction',
      labelNames: ['model', 'direction'],
    },
    function* () {
      for (const [model, { tokens }] of models) {
        if (!tokens) continue
        yield [{ model, direction: 'prompt' }, tokens.prompt]
        yield [{ model, direction: 'completion' }, tokens.completion]
      }
    },
  )
  counter(
    {
      registry,
      name: 'reprise_charged_credits_total',
      help: 'Credits that runs cost, by model',
      labelNames: ['model'],
    },
    function* () {
      for (const [model, { credits }] of models)
        if (credits !== undefined) yield [{ model }, credits]
    },
  )
  counter(
    {
      registry,
      name: 'reprise_model_errors_total',
      help: 'Runs that ended while a model was asked, by the code that clients are told',
      labelNames: ['code'],
    },
    countsBy('code', errors),
  )
  counter(
    {
      registry,
      name: 'reprise_tool_calls_total',
      help: 'Calls of tools, by outcome',
      labelNames: ['outcome'],
    },
    countsBy('outcome', tools),
  )
  counter(
    {
      registry,
      name: 'reprise_refusals_total',
      help: 'Requests, frames and calls that were refused, by code',
      labelNames: ['code'],
    },
    countsBy('code', refusals),
  )
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
    const calls = new Map<string, { model: ModelCounts; at: number }>()
    let first: ModelCounts | undefined
    let silent = true
    return {
      see(event) {
        if (event.event === 'token') {
          if (!silent) return
          silent = false
          const model = calls.get(event.step_id)?.model ?? countsOf(noModel)
          model.began((performance.now() - began) / 1000)
        } else if (event.event === 'model_called') {
          const model = countsOf(event.model)
          first ??= model
          calls.set(event.step_id, { model, at: performance.now() })
        } else if (event.event === 'model_answered') {
          const call = calls.get(event.step_id)
          calls.delete(event.step_id)
          if (call) countsOf(event.model).called((performance.now() - call.at) / 1000)
        } else if (event.event === 'tool_completed') plus(tools, event.ok ? 'ok' : 'failed')
      },
      ended({ status, done, refusal }) {
        plus((first ?? countsOf(noModel)).runs, done.in_doubt ? 'in_doubt' : outcomes[status])
        if (refusal && calls.size > 0 && status !== 'limited') plus(errors, refusal.code)
        // Its attempts are counted together, at its end.
        if (status === 'paused') return
        for (const { model: name, usage, charge } of done.charges) {
          const model = countsOf(name)
          model.tokens ??= { prompt: 0, completion: 0 }
          model.tokens.prompt += usage.promptTokens
          model.tokens.completion += usage.completionTokens
          if (charged.has(status)) model.credits = (model.credits ?? 0) + charge / creditUnit
        }
      },
    }
  }

  return {
    registry,
    watchRun,
    refused: (code: RefusalCode): void => plus(refusals, code),
    queue: (name: string, length: () => number): void => {
      queues.set(name, length)
    },
    /** All that the registry has, as of now. */
    now: async () =>
      (await registry.getMetricsAsJSON()).map((metric) => ({
        ...metric,
        type: String(metric.type),
      })),
  }
}
