import fc from 'fast-check'
import t from 'tap'
import { tokenMeter } from '../../../src/agents/token-meter.ts'
import type { Price } from '../../../src/domain/price.ts'
import { type Answer, type RunEnding, termsOfRun } from '../../../src/domain/session/charge.ts'
import { modelsOf } from '../../../src/turns/record/run-end.ts'
import { at } from '../../support/positions.ts'

const eventAt = (position: number, type: string) => ({
  id: `event-${position}`,
  stream: 'session-org-1_session-1',
  type,
  position: at(position),
  at: '2026-01-01T00:00:00.000Z',
})

const price = fc.record({
  prompt: fc.constantFrom(0, 0.15, 1, 2.5, 1.1),
  completion: fc.constantFrom(0, 0.6, 2, 10),
  list: fc.constantFrom('configured', 'built_in', 'default', undefined),
})
const tokens = fc.record({ promptTokens: fc.nat(5_000), completionTokens: fc.nat(5_000) })
const use = fc.record({ model: fc.constantFrom('a/1', 'a/2', 'b/1'), price, tokens })

type Use = {
  model: string
  price: Price
  tokens: { promptTokens: number; completionTokens: number }
}

const endTypes = ['RunCompleted', 'RunFailed', 'RunCancelled', 'RunTimedOut'] as const

/** A stored run: its answers, perhaps a call without an end, and the limit of its agent. */
const plan = fc.record({
  uses: fc.array(use, { maxLength: 12 }),
  open: fc.option(
    fc.record({ model: fc.constantFrom('a/1', 'c/1'), price, characters: fc.nat(999) }),
  ),
  type: fc.constantFrom(...endTypes),
  limit: fc.option(fc.integer({ min: 1, max: 40_000 }), { nil: undefined }),
  /** Whether its end was stored by an earlier release. */
  isOld: fc.boolean(),
})

const answersOf = (uses: readonly Use[]): Answer[] =>
  uses.map(({ model, price, tokens }, n) => ({
    event: eventAt(n, 'ModelAnswered'),
    agent: `Agent ${n % 3}`,
    model,
    price,
    ...tokens,
  }))

const sum = (charges: readonly { charge: number }[]) =>
  charges.reduce((all, { charge }) => all + charge, 0)

t.test('the terms of a run add up to its charge', async () => {
  fc.assert(
    fc.property(plan, ({ uses, open, type, limit, isOld }) => {
      const meter = tokenMeter(uses.map(({ tokens: usage, ...used }) => ({ ...used, usage })))
      const step_id = 'open'
      if (open && type === 'RunCancelled') {
        const { model, price, characters } = open
        meter.see({ event: 'model_called', step_id, model, price, prompt_tokens: 10 })
        meter.see({ event: 'token', step_id, agent: 'Agent', text: 'x'.repeat(characters) })
      }
      const { usage, charges } = meter.total()
      const [first, second] = charges
      const charge = Math.min(sum(charges), limit ?? Infinity)
      const cost = { event: eventAt(99, type), ...usage, charge }
      const single = type === 'RunCompleted' && !second
      const models = charges.length > 0 ? { models: modelsOf(charges, charge) } : {}
      const recorded = single && first ? { price: first.price } : models
      const end: RunEnding = {
        ...cost,
        ...(type === 'RunCompleted' ? { model: first?.model ?? 'none' } : {}),
        ...(isOld ? {} : recorded),
      }
      // The only answer of a complete run is its message.
      const answers = single && uses.length === 1 ? [] : answersOf(uses)
      const terms = termsOfRun(answers, end, limit)
      if (sum(terms) !== end.charge) return false
      if (isOld) return true
      return terms.every((term) => {
        if (term.kind !== 'model') return term.kind === 'limit'
        const { sources, product, charge } = term
        const used = (name: 'promptTokens' | 'completionTokens') =>
          sources.reduce((all, source) => all + source[name], 0) === term[name]
        return (
          used('promptTokens') && used('completionTokens') && Math.ceil(product ?? -1) === charge
        )
      })
    }),
    { numRuns: 500 },
  )
})

const cheap: Price = { prompt: 1, completion: 2, list: 'built_in' }
const ending = (type: string, change: Partial<RunEnding>): RunEnding => ({
  event: eventAt(9, type),
  promptTokens: 10,
  completionTokens: 5,
  charge: 20,
  ...change,
})

t.test('the only answer of a run is in its end, and no estimate', async (t) => {
  const end = ending('RunCompleted', { model: 'a/1', price: cheap })
  t.match(termsOfRun([], end, undefined), [
    {
      kind: 'model',
      model: 'a/1',
      price: cheap,
      product: 20,
      charge: 20,
      sources: [{ event: { id: 'event-9' }, promptTokens: 10, estimated: false }],
    },
  ])
})

t.test('tokens of a call that never ended are an estimate in the end of its run', async (t) => {
  const answers = answersOf([
    { model: 'a/1', price: cheap, tokens: { promptTokens: 6, completionTokens: 3 } },
  ])
  const models = [{ model: 'a/1', price: cheap, promptTokens: 10, completionTokens: 5, charge: 20 }]
  t.match(termsOfRun(answers, ending('RunCancelled', { models }), undefined), [
    {
      sources: [
        { event: { type: 'ModelAnswered' }, promptTokens: 6, estimated: false },
        { event: { type: 'RunCancelled' }, promptTokens: 4, completionTokens: 2, estimated: true },
      ],
    },
  ])
})

t.test('of several prices of a model the latest counts, and each answer has its own', async (t) => {
  const dear: Price = { prompt: 2, completion: 4 }
  const tokens = { promptTokens: 5, completionTokens: 1 }
  const uses = [cheap, dear].map((price) => ({ model: 'a/1', price, tokens }))
  t.match(termsOfRun(answersOf(uses), undefined, undefined), [
    { price: dear, charge: 28, sources: [{ price: cheap }, { price: dear }] },
  ])
})

t.test('the limit of the agent is a term of its own', async (t) => {
  const end = ending('RunCompleted', { model: 'a/1', price: cheap, charge: 15 })
  t.match(termsOfRun([], end, 15), [{ charge: 20 }, { kind: 'limit', charge: -5 }])
  t.match(termsOfRun([], end, 16), [{ charge: 20 }, { kind: 'adjustment', charge: -5 }])
})

t.test('an end of an earlier release names no price', async (t) => {
  t.match(termsOfRun([], ending('RunCompleted', { model: 'a/1' }), undefined), [
    { kind: 'model', model: 'a/1', price: null, product: null, charge: 20 },
  ])
  t.match(termsOfRun([], ending('RunCancelled', {}), undefined), [
    { kind: 'adjustment', charge: 20 },
  ])
})

t.test('a run without a charge has no terms', async (t) => {
  const free = ending('RunFailed', { promptTokens: 0, completionTokens: 0, charge: 0 })
  t.strictSame(termsOfRun([], free, undefined), [])
})
