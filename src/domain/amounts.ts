/** Micro-credits in one credit, the unit on the wire. */
export const creditUnit = 1_000_000

/** The largest amount or count, of either sign: beyond it numbers are not exact. */
export const largestAmount = Number.MAX_SAFE_INTEGER

/** A sum of amounts, at most the largest. */
export const saturate = (sum: number): number =>
  Math.max(-largestAmount, Math.min(largestAmount, sum))

type Tokens = { readonly promptTokens: number; readonly completionTokens: number }
type Price = { readonly prompt: number; readonly completion: number }

/** What tokens cost in micro-credits; prices are in credits per million tokens. */
export const chargeOf = ({ promptTokens, completionTokens }: Tokens, price: Price): number =>
  Math.min(
    largestAmount,
    Math.ceil(promptTokens * price.prompt + completionTokens * price.completion),
  )
