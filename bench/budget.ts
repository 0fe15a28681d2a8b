import type { Place, Section } from './bench.ts'
import { chatRequest, productWith } from './contenders.ts'
import { type TurnCount, turnCounts } from './counting/turn-counts.ts'
import type { Measured } from './measured.ts'
import { loadCore, serve } from './processes.ts'
import { countNames, providerBudget, turnBudget } from './turn-budget.ts'

/** What a turn is to allocate where many run at once: what waits for commits is then shared. */
const bytesTogether = 100_000

const how = { warmUp: 2_000, turns: 2_000 }

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
      alone: await turnCounts(product, chats, { ...how, atOnce: 1 }),
      together: await turnCounts(product, chats, { ...how, atOnce: 64 }),
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
    const alone = await turnCounts(product, chats, { ...how, atOnce: 1 })
    const together = await turnCounts(product, chats, { ...how, atOnce: 64 })
    const streamed = await turnCounts(product, streams, { ...how, atOnce: 64 })
    const provider = await throughProvider(place)
    const names = Object.keys(turnBudget) as TurnCount[]
    return names.flatMap((name): Measured[] => {
      const named = (what: string, value: number): Measured => ({
        name: `${countNames[name]} a ${what}`,
        value,
        unit: '',
      })
      return [
        { ...named('turn, one at a time', alone[name]), aim: { most: turnBudget[name] } },
        {
          ...named('turn, 64 at once', together[name]),
          ...(name === 'bytes' ? { aim: { most: bytesTogether } } : {}),
        },
        named('streamed turn, 64 at once', streamed[name]),
        {
          ...named('turn through a provider, one at a time', provider.alone[name]),
          aim: { most: providerBudget[name] },
        },
        named('turn through a provider, 64 at once', provider.together[name]),
      ]
    })
  } finally {
    await product.stop()
  }
}
