import { chargeOf, saturate } from '../amounts.ts'
import type { Position } from '../event.ts'
import type { Price } from '../price.ts'
import type { SessionEvent } from './events.ts'

/** Where an event is stored, and when it was appended. */
export type EventRef = { id: string; stream: string; type: string; position: Position; at: string }

type Tokens = { promptTokens: number; completionTokens: number }

/** A recorded answer of a model, and its event. */
export type Answer = Tokens & { event: EventRef; agent: string; model: string; price: Price }

/** The cost in the end of a run, and its event. `model` and `price` are those of `RunCompleted`. */
export type RunEnding = Pick<SessionEvent<'RunCancelled'>['data'], 'charge' | 'models'> &
  Tokens & { event: EventRef; model?: string | undefined; price?: Price | undefined }

/** Tokens of a term and the event that has them; `estimated`: of a call that never ended. */
export type TermSource = Tokens & {
  event: EventRef
  agent: string | null
  price: Price | null
  estimated: boolean
}

/** A part of a charge, in micro-credits. `product` is the charge before it is rounded up. */
export type ModelTerm = Tokens & {
  kind: 'model'
  model: string
  /** Null: an earlier release did not record it. */
  price: Price | null
  product: number | null
  charge: number
  sources: readonly TermSource[]
}

/**
 * `limit` lowers the sum to what the agent allows a run. `adjustment` is what no readable event
 * explains.
 */
type Correction = { kind: 'limit' | 'adjustment'; charge: number; event: EventRef }

export type RunTerm = ModelTerm | Correction

type Sum = Tokens & { model: string; price: Price | null; charge: number }

/** The sum of each model, in the order of their first answers; the latest price counts. */
const sumsOf = (answers: readonly Answer[]): Sum[] => {
  const sums = new Map<string, Sum>()
  for (const { model, price, promptTokens, completionTokens } of answers) {
    const before = sums.get(model)
    const tokens = {
      promptTokens: saturate((before?.promptTokens ?? 0) + promptTokens),
      completionTokens: saturate((before?.completionTokens ?? 0) + completionTokens),
    }
    sums.set(model, { model, price, ...tokens, charge: chargeOf(tokens, price) })
  }
  return [...sums.values()]
}

/** Before the agent's limit is applied, if there is a price. */
const unlimited = ({
  price = null,
  ...use
}: Omit<Sum, 'price'> & { price?: Price | null | undefined }): Sum => ({
  ...use,
  price,
  charge: price ? chargeOf(use, price) : use.charge,
})

/** Ends of earlier releases, and of paused runs, name no models: the answers are summed up. */
const endSums = (answers: readonly Answer[], end: RunEnding): readonly Sum[] => {
  const { models, model, price, charge, promptTokens, completionTokens } = end
  if (models) return models.map(unlimited)
  const isOnly = model !== undefined && (price !== undefined || answers.length === 0)
  if (charge === 0 && !price) return []
  return isOnly
    ? [unlimited({ model, price, charge, promptTokens, completionTokens })]
    : sumsOf(answers)
}

/**
 * The events that tokens of a sum are in. Tokens in no recorded answer are in the end: the only
 * answer of a run, or the estimate for calls under way.
 */
const sourcesOf = (sum: Sum, answers: readonly Answer[], end?: RunEnding): TermSource[] => {
  const sources: TermSource[] = answers
    .filter(({ model }) => model === sum.model)
    .map(({ model: _, ...answer }) => ({ ...answer, estimated: false }))
  const rest = (name: keyof Tokens) =>
    sources.reduce((left, source) => left - source[name], sum[name])
  const tokens = {
    promptTokens: rest('promptTokens'),
    completionTokens: rest('completionTokens'),
  }
  if (!end || (tokens.promptTokens === 0 && tokens.completionTokens === 0)) return sources
  const { event } = end
  const estimated = event.type !== 'RunCompleted' || answers.length > 0
  return [...sources, { ...tokens, event, agent: null, price: sum.price, estimated }]
}

/**
 * The terms of a run's charge, whose sum it is. `limit` is the most that its agent allows, in
 * micro-credits. Without an end: of its answers so far.
 */
export const termsOfRun = (
  answers: readonly Answer[],
  end: RunEnding | undefined,
  limit: number | undefined,
): RunTerm[] => {
  const terms: RunTerm[] = (end ? endSums(answers, end) : sumsOf(answers)).map((sum) => ({
    kind: 'model',
    ...sum,
    product:
      sum.price &&
      sum.promptTokens * sum.price.prompt + sum.completionTokens * sum.price.completion,
    sources: sourcesOf(sum, answers, end),
  }))
  if (!end) return terms
  const left = end.charge - terms.reduce((sum, { charge }) => sum + charge, 0)
  if (left === 0) return terms
  const kind = left < 0 && end.charge === limit ? 'limit' : 'adjustment'
  return [...terms, { kind, charge: left, event: end.event }]
}
