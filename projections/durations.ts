import { z } from 'zod'

/**
 * How long things took: counts by bucket, each 10 % wider than the one before, so that a quantile
 * is at most 5 % off. Adding the counts of two gives that of both.
 */
export const durations = z
  .record(z.string(), z.int())
  .describe('Counts of completed runs: bucket n is from 1.1^(n-1) to 1.1^n ms; add to merge')
export type Durations = Readonly<z.infer<typeof durations>>

const growth = Math.log(1.1)

const bucketOf = (ms: number): number => (ms <= 1 ? 0 : Math.ceil(Math.log(ms) / growth))

/** The middle of a bucket, in milliseconds. */
const middleOf = (bucket: number): number => (bucket === 0 ? 1 : Math.exp((bucket - 0.5) * growth))

export const withDuration = (durations: Durations, ms: number): Durations => {
  const bucket = bucketOf(ms)
  return { ...durations, [bucket]: (durations[bucket] ?? 0) + 1 }
}

export const together = (all: readonly Durations[]): Durations => {
  const sum: Record<string, number> = {}
  for (const counts of all)
    for (const [bucket, count] of Object.entries(counts)) sum[bucket] = (sum[bucket] ?? 0) + count
  return sum
}

/** In whole milliseconds; null where nothing was measured. */
export const quantile = (durations: Durations, share: number): number | null => {
  const counts = Object.entries(durations).map(
    ([bucket, count]) => [Number(bucket), count] as const,
  )
  const total = counts.reduce((sum, [, count]) => sum + count, 0)
  let left = Math.ceil(share * total)
  for (const [bucket, count] of counts.toSorted(([a], [b]) => a - b)) {
    left -= count
    if (left <= 0) return Math.round(middleOf(bucket))
  }
  return null
}
