/** Amounts and counts end here, of either sign: larger ones are not exact, and no schema takes them. */
export const largestAmount = Number.MAX_SAFE_INTEGER

/** A sum of amounts, at most the largest. */
export const saturate = (sum: number): number =>
  Math.max(-largestAmount, Math.min(largestAmount, sum))
