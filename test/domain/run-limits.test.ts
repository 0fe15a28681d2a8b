import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import {
  type AgentLimits,
  limitOfCall,
  limitOfStep,
  limitPassed,
  limitsOfRun,
  limitWords,
  type Used,
} from '../../src/domain/run-limits.ts'
import { rounds } from '../support/rounds.ts'

const used = (more: Partial<Used> = {}): Used => ({
  steps: 0,
  tokens: 0,
  charge: 0,
  ms: 0,
  ...more,
})
const price = { prompt: 1, completion: 2 }
const call = (promptTokens: number) => ({ promptTokens, price })

t.test(
  'the agent that the client names decides; what it leaves open, the one in front',
  async (t) => {
    const limits = { steps: 5, tokens: 100 }
    t.strictSame(limitsOfRun({ limits }), limits)
    t.strictSame(limitsOfRun({}), {})
    t.strictSame(limitsOfRun({ limits: null }, { limits: null }), {})
    t.strictSame(limitsOfRun({ limits }, {}), limits)
    t.strictSame(limitsOfRun({ limits }, { limits: { steps: 50, seconds: 9 } }), {
      steps: 50,
      tokens: 100,
      seconds: 9,
    })
    t.strictSame(limitsOfRun({ limits }, { limits: { steps: undefined } }), { tokens: 100 })
  },
)

t.test('a step is taken as long as there is one left, and something of all else', async (t) => {
  t.equal(limitOfStep({}, used({ steps: 1_000_000 })), undefined)
  t.equal(limitOfStep({ steps: 5 }, used({ steps: 4 })), undefined)
  t.strictSame(limitOfStep({ steps: 5 }, used({ steps: 5 })), {
    limit: 'steps',
    used: 5,
    allowed: 5,
    setBy: 'agent',
  })
  t.match(limitOfStep({ tokens: 10 }, used({ tokens: 12 })), { limit: 'tokens', used: 12 })
  t.match(limitOfStep({ charge: 10 }, used({ charge: 10 })), { limit: 'credits', allowed: 10 })
  t.match(limitOfStep({ seconds: 2 }, used({ ms: 2_500 })), { limit: 'seconds', used: 2.5 })
  t.equal(limitOfStep({ seconds: 2 }, used({ ms: 1_999 })), undefined)
})

t.test('a model is asked where its prompt and a token of its answer fit', async (t) => {
  t.strictSame(limitOfCall({}, used(), call(10)), { answer: undefined })
  t.strictSame(limitOfCall({ steps: 1 }, used({ steps: 1 }), call(10)), { answer: undefined })
  t.strictSame(limitOfCall({ tokens: 100 }, used({ tokens: 40 }), call(10)), {
    answer: { tokens: 50, limit: 'tokens' },
  })
  t.match(limitOfCall({ tokens: 100 }, used({ tokens: 90 }), call(10)), {
    reached: { limit: 'tokens', used: 90, allowed: 100 },
  })
  t.strictSame(limitOfCall({ charge: 100 }, used({ charge: 40 }), call(10)), {
    answer: { tokens: 25, limit: 'credits' },
  })
  t.match(limitOfCall({ charge: 100 }, used({ charge: 89 }), call(10)), {
    reached: { limit: 'credits', used: 89, allowed: 100 },
  })
  t.match(limitOfCall({ tokens: 100, charge: 100 }, used(), call(10)), {
    answer: { tokens: 45, limit: 'credits' },
  })
  t.match(limitOfCall({ seconds: 1 }, used({ ms: 1_000 }), call(1)), {
    reached: { limit: 'seconds' },
  })
  const free = { promptTokens: 1e9, price: { prompt: 0, completion: 0 } }
  t.strictSame(limitOfCall({ charge: 1 }, used(), free), { answer: undefined })
})

t.test(
  'where tokens and credits leave an answer of the same length, tokens limit it',
  async (t) => {
    t.strictSame(limitOfCall({ tokens: 100, charge: 190 }, used(), call(10)), {
      answer: { tokens: 90, limit: 'tokens' },
    })
  },
)

t.test('an answer of one token is the shortest that a model is asked for', async (t) => {
  t.strictSame(limitOfCall({ tokens: 11 }, used(), call(10)), {
    answer: { tokens: 1, limit: 'tokens' },
  })
  t.match(limitOfCall({ tokens: 10 }, used(), call(10)), { reached: { limit: 'tokens' } })
  t.strictSame(limitOfCall({ charge: 12 }, used(), call(10)), {
    answer: { tokens: 1, limit: 'credits' },
  })
  t.match(limitOfCall({ charge: 11 }, used(), call(10)), { reached: { limit: 'credits' } })
})

t.test('an answer that comes to more than is left has passed the limit', async (t) => {
  t.equal(limitPassed({ tokens: 10, charge: 10 }, used({ tokens: 10, charge: 10 })), undefined)
  t.match(limitPassed({ tokens: 10 }, used({ tokens: 11 })), { limit: 'tokens', used: 11 })
  t.match(limitPassed({ charge: 10 }, used({ charge: 11 })), { limit: 'credits', used: 11 })
})

t.test('clients are told in words', async (t) => {
  const words = (limit: Parameters<typeof limitWords>[0]) => limitWords(limit)
  t.match(words({ limit: 'steps', used: 5, allowed: 5 }), /used 5 of 5 steps/)
  t.match(words({ limit: 'credits', used: 1_500, allowed: 2_000_000 }), /0\.0015 of 2 credits/)
  t.match(words({ limit: 'seconds', used: 2.0401, allowed: 2 }), /2 of 2 seconds/)
})

t.test('a granted answer never exceeds the remaining limits', async () => {
  const count = fc.integer({ min: 1, max: 10_000 })
  const limits: fc.Arbitrary<AgentLimits> = fc.record(
    { steps: count, tokens: count, charge: count, seconds: count },
    { requiredKeys: [] },
  )
  const sum = fc.nat(20_000)
  const spent = fc.record({ steps: sum, tokens: sum, charge: sum, ms: fc.nat(20_000_000) })
  const modelCall = fc.record({
    promptTokens: sum,
    price: fc.record({
      prompt: fc.double({ min: 0, max: 100, noNaN: true }),
      completion: fc.double({ min: 0, max: 100, noNaN: true }),
    }),
  })
  const holds = (
    own: AgentLimits,
    before: Used,
    call: typeof modelCall extends fc.Arbitrary<infer A> ? A : never,
  ) => {
    const limit = limitOfCall(own, before, call)
    if ('reached' in limit) {
      assert.ok(limit.reached.allowed > 0)
      return
    }
    const { tokens = Number.POSITIVE_INFINITY } = limit.answer ?? {}
    assert.ok(tokens >= 1 && (tokens === Number.POSITIVE_INFINITY || Number.isSafeInteger(tokens)))
    if (own.tokens !== undefined)
      assert.ok(before.tokens + call.promptTokens + tokens <= own.tokens)
    if (own.charge !== undefined && Number.isFinite(tokens)) {
      const { prompt, completion } = call.price
      const cost = call.promptTokens * prompt + (completion === 0 ? 0 : tokens * completion)
      assert.ok(before.charge + cost <= own.charge + 1e-3)
    }
    assert.ok(own.seconds === undefined || before.ms < own.seconds * 1_000)
  }
  fc.assert(fc.property(limits, spent, modelCall, holds), { numRuns: rounds(500, 20_000) })
})
