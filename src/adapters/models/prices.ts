import type { Price } from '../../ports/model.ts'

export type Prices = Readonly<Record<string, Price>>

/** The prices of a list, each with the name of the list. */
export const pricesOf = (list: NonNullable<Price['list']>, prices: Prices): Prices =>
  Object.fromEntries(Object.entries(prices).map(([name, price]) => [name, { ...price, list }]))

/** Credits per million tokens, by full model name; `provider/*` for the rest of a provider. */
export const prices: Prices = {
  'offline/*': { prompt: 1, completion: 2 },
  'openai/gpt-4o': { prompt: 2.5, completion: 10 },
  'openai/gpt-4o-mini': { prompt: 0.15, completion: 0.6 },
  'openai/gpt-4.1': { prompt: 2, completion: 8 },
  'openai/gpt-4.1-mini': { prompt: 0.4, completion: 1.6 },
  'openai/gpt-5': { prompt: 1.25, completion: 10 },
  'openai/gpt-5-mini': { prompt: 0.25, completion: 2 },
}

/** For a model in no table. */
export const defaultPrice: Price = { prompt: 2.5, completion: 10, list: 'default' }

export const priceOf = (table: Prices, name: string): Price =>
  table[name] ?? table[`${name.split('/', 1)[0]}/*`] ?? defaultPrice
