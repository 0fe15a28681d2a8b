import type { Position } from '../domain/event.ts'

/** Increasing positions as runs that are read in one go: no two neighbours are further apart. */
export const runsOf = (positions: readonly Position[], near: number): Position[][] => {
  const runs: Position[][] = []
  let last: Position | undefined
  for (const position of positions) {
    if (last !== undefined && position - last <= near) runs.at(-1)?.push(position)
    else runs.push([position])
    last = position
  }
  return runs
}
