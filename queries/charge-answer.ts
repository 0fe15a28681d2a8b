import { inCredits } from '../projections/fields.ts'
import type { Price } from '../src/domain/price.ts'
import type { EventRef, ModelTerm, RunTerm } from '../src/domain/session/charge.ts'

/** How many events of a term an answer has. */
const mostSources = 1_000

export const eventAnswer = ({ id, position, stream, type, at }: EventRef) => ({
  event_id: id,
  position,
  stream,
  type,
  at,
})

export const amountAnswer = (micro: number) => ({
  credits: inCredits(micro),
  micro_credits: micro,
})

const priceAnswer = ({ prompt, completion, list }: Price, recorded_at: string) => ({
  prompt,
  completion,
  list: list ?? null,
  recorded_at,
})

const tokensAnswer = ({
  promptTokens,
  completionTokens,
}: Pick<ModelTerm, 'promptTokens' | 'completionTokens'>) => ({
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
})

const modelAnswer = (term: ModelTerm) => {
  const { kind, sources, model, price, product, charge } = term
  const latest = sources.at(-1)?.event.at
  return {
    kind,
    model,
    ...tokensAnswer(term),
    price: price && latest !== undefined ? priceAnswer(price, latest) : null,
    product,
    ...amountAnswer(charge),
    source_count: sources.length,
    sources: sources.slice(0, mostSources).map(({ event, agent, price, estimated, ...used }) => ({
      ...eventAnswer(event),
      agent_name: agent,
      ...tokensAnswer(used),
      price: price && priceAnswer(price, event.at),
      estimated,
    })),
  }
}

/** A term of a run's charge (docs/contract/charges.md). */
export const termAnswer = (term: RunTerm) =>
  term.kind === 'model'
    ? modelAnswer(term)
    : { kind: term.kind, ...amountAnswer(term.charge), sources: [eventAnswer(term.event)] }
