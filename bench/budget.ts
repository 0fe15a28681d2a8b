import type { Place, Section } from './bench.ts'
import { chatRequest, productWith } from './contenders.ts'
import { type TurnCount, turnCounts } from './counting/turn-counts.ts'
import type { Measured } from './measured.ts'
import { loadCore, serve } from './processes.ts'
import { countNames, providerBudget, turnBudget } from './turn-budget.ts'

/** The most bytes that a turn may allocate when many run at once: they share their commits. */
const bytesTogether = 100_000

const alone = { warmUp: 2_000, turns: 2_000, atOnce: 1 }
/** Seconds of them: views are written about once a second. */
const together = { warmUp: 2_000, turns: 10_000, atOnce: 64 }

/** Turns through a provider that answers at once. */
const throughProvider = async (place: Place) => {
  const provider = await serve({ script: 'baselines/upstream.js', core: loadCore })
  const { product, tenants } = await productWith(place, {
    name: 'provider-budget',
    preload: 'counting/preload.js',
    env: { LLM_BASE_URL: `${provider.url}/v1`, LLM_MODEL: 'mock/model' },
  })
  const chats = tenants.map((tenant) => chatRequest(tenant))
  try {
    return {
      single: await turnCounts(product, chats, alone),
      many: await turnCounts(product, chats, together),
    }
  } finally {
    await Promise.all([product, provider].map((server) => server.stop()))
  }
}

/** What a turn costs in counts, which do not depend on what else the machine does. */
export const benchBudget: Section = async (place) => {
  const { product, tenants } = await productWith(place, {
    name: 'budget',
    preload: 'counting/preload.js',
  })
  const chats = tenants.map((tenant) => chatRequest(tenant))
  const streams = tenants.map((tenant) => chatRequest(tenant, { stream: true }))
  try {
    const single = await turnCounts(product, chats, alone)
    const many = await turnCounts(product, chats, together)
    const streamed = await turnCounts(product, streams, together)
    const provider = await throughProvider(place)
    const names = Object.keys(turnBudget) as TurnCount[]
    return names.flatMap((name): Measured[] => {
      const named = (what: string, value: number): Measured => ({
        name: `${countNames[name]} a ${what}`,
        value,
        unit: '',
      })
      return [
        { ...named('turn, one at a time', single[name]), aim: { most: turnBudget[name] } },
        {
          ...named('turn, 64 at once', many[name]),
          ...(name === 'bytes' ? { aim: { most: bytesTogether } } : {}),
        },
        named('streamed turn, 64 at once', streamed[name]),
        {
          ...named('turn through a provider, one at a time', provider.single[name]),
          aim: { most: providerBudget[name] },
        },
        named('turn through a provider, 64 at once', provider.many[name]),
      ]
    })
  } finally {
    await product.stop()
  }
}
