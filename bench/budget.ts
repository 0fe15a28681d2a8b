import type { Section } from './bench.ts'
import { chatRequest, productWith } from './contenders.ts'
import { type TurnCount, turnCounts } from './counting/turn-counts.ts'
import type { Measured } from './measured.ts'
import { countNames, turnBudget } from './turn-budget.ts'

/** What a turn is to allocate where many run at once: what waits for commits is then shared. */
const bytesTogether = 100_000

const how = { warmUp: 2_000, turns: 2_000 }

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
      ]
    })
  } finally {
    await product.stop()
  }
}
