import { type Encoded, ordered } from './key-encoder.ts'

/** Keys from `low` on, to before `high`; undefined: to the end. */
type Range = { low: Buffer; high: Buffer | undefined; uses: number }

/** Where more ranges than this come together, all are forgotten. */
const mostRanges = 4_096

const endsBefore = ({ high }: Range, key: Encoded): boolean =>
  high !== undefined && ordered(high, 0, high.length, key) <= 0

const beginsBehind = ({ low }: Range, key: Encoded): boolean => ordered(low, 0, low.length, key) > 0

/**
 * Ranges of the keys of a tree, in their order. What is asked for every read and write allocates
 * nothing.
 */
export const keyRanges = () => {
  const ranges: Range[] = []
  /** Where the last key was found: the next is often near it. */
  let recent = 0

  const rangeOf = (key: Encoded): Range | undefined => {
    const range = ranges[recent]
    if (range && !beginsBehind(range, key) && !endsBefore(range, key)) return range
    let low = 0
    let high = ranges.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (endsBefore(ranges[middle] as Range, key)) low = middle + 1
      else high = middle
    }
    const found = ranges[low]
    if (!found || beginsBehind(found, key)) return undefined
    recent = low
    return found
  }

  /** How many ranges, from the first on, are as they are asked for. */
  const leading = (are: (range: Range) => boolean): number => {
    let low = 0
    let high = ranges.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (are(ranges[middle] as Range)) low = middle + 1
      else high = middle
    }
    return low
  }

  const insert = (first: number, behind: number, range: Range) => {
    recent = 0
    if (ranges.length >= mostRanges) ranges.length = 0
    ranges.splice(first, behind - first, range)
  }

  return {
    has: (key: Encoded): boolean => rangeOf(key) !== undefined,

    /** Whether a range has a key, and may be used once more. */
    takes(key: Encoded): boolean {
      const range = rangeOf(key)
      return range !== undefined && range.uses-- > 0
    },

    /** Ranges that overlap or touch become one. */
    add(from: Buffer, to: Buffer | undefined): void {
      const first = leading(({ high }) => high !== undefined && high.compare(from) < 0)
      const behind = leading(({ low }) => !to || low.compare(to) <= 0)
      const low = ranges[first]?.low
      const last = ranges[behind - 1]
      const joined = behind > first && last !== undefined
      const high = joined && (!last.high || (to && last.high.compare(to) > 0)) ? last.high : to
      insert(first, behind, {
        low: joined && low && low.compare(from) < 0 ? low : from,
        high,
        uses: 0,
      })
    },

    /** Takes the place of those that overlap it. */
    replace(from: Buffer, to: Buffer | undefined, uses: number): void {
      const first = leading(({ high }) => high !== undefined && high.compare(from) <= 0)
      const behind = leading(({ low }) => !to || low.compare(to) < 0)
      insert(first, behind, { low: from, high: to, uses })
    },

    clear(): void {
      ranges.length = 0
      recent = 0
    },
  }
}

export type KeyRanges = ReturnType<typeof keyRanges>
