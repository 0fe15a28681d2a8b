import type { Position } from '../domain/event.ts'

/** Increasing positions as ranges that are read in one go: no two neighbours are further apart. */
export const rangesOf = (positions: readonly Position[], near: number): Position[][] => {
  const ranges: Position[][] = []
  let last: Position | undefined
  for (const position of positions) {
    if (last !== undefined && position - last <= near) ranges.at(-1)?.push(position)
    else ranges.push([position])
    last = position
  }
  return ranges
}
