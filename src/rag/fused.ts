/** How much the first places count over the later ones. */
const k = 60

/**
 * Rankings of the same things as one, by reciprocal rank: what stands high in any of them stands
 * high. Each is the best first; scores become sums of 1 / (k + place).
 */
export const fused = <T extends { score: number }>(
  rankings: readonly (readonly T[])[],
  keyOf: (one: T) => string,
): T[] => {
  const all = new Map<string, T>()
  for (const ranking of rankings)
    for (const [n, one] of ranking.entries()) {
      const key = keyOf(one)
      const score = (all.get(key)?.score ?? 0) + 1 / (k + n + 1)
      all.set(key, { ...one, score })
    }
  return [...all.values()].sort((left, right) => right.score - left.score)
}
