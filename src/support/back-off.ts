/** Milliseconds before the next try: 50, doubled by each failure in a row, up to `mostMs`. */
export const backOff = (failures: number, mostMs = 5_000): number =>
  Math.min(mostMs, 50 * 2 ** failures)
