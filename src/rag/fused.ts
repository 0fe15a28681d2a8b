/** The constant k; the smaller, the more the first places count. */
const k = 60

/**
 * Merges rankings by reciprocal rank: an item that is high in one of them is high in the result.
 * Each ranking has the best first; a score is the sum of 1 / (k + place).
 */
export const fused = <T extends { score: number }>(
  rankings: readonly (readonly T[])[],
  keyOf: (item: T) => string,
): T[] => {
  const all = new Map<string, T>()
  for (const ranking of rankings)
    for (const [n, item] of ranking.entries()) {
      const key = keyOf(item)
      const score = (all.get(key)?.score ?? 0) + 1 / (k + n + 1)
      all.set(key, { ...item, score })
    }
  return [...all.values()].sort((left, right) => right.score - left.score)
}
