const dayMs = 86_400_000

/** A day in UTC as `2026-11-26`. */
export const dayOf = (at: Date): string => at.toISOString().slice(0, 10)

/** The given number of days up to one, that one included. */
export const daysUpTo = (last: string, count: number): string[] => {
  const end = Date.parse(`${last}T00:00:00Z`)
  return Array.from({ length: count }, (_, index) =>
    dayOf(new Date(end - (count - 1 - index) * dayMs)),
  )
}

type Row = { day?: string | undefined }
type Value<R> = (row: R) => number | null

const sumOf = (values: readonly (number | null)[]): number =>
  values.reduce<number>((sum, value) => sum + (value ?? 0), 0)

/** One value of each day; days without a row are 0, or null where a gap is no zero. */
export const valuesByDay = <R extends Row>(
  rows: readonly R[],
  days: readonly string[],
  value: Value<R>,
  gap: 0 | null = 0,
): (number | null)[] => {
  const byDay = new Map(rows.map((row) => [row.day, row]))
  return days.map((day) => {
    const row = byDay.get(day)
    return row ? value(row) : gap
  })
}

const grouped = <R>(rows: readonly R[], key: (row: R) => string): Map<string, R[]> => {
  const groups = new Map<string, R[]>()
  for (const row of rows) {
    const id = key(row)
    const group = groups.get(id)
    if (group) group.push(row)
    else groups.set(id, [row])
  }
  return groups
}

type Group<R> = {
  /** What a row belongs to. */
  key: (row: R) => string
  name: (key: string) => string
  value: Value<R>
  /** The largest groups have a series each; the others have one together. */
  most: number
}

/** A series for each of the largest groups by their sums, and one named "Other" for the rest. */
export const largestGroups = <R extends Row>(
  rows: readonly R[],
  days: readonly string[],
  { key, name, value, most }: Group<R>,
) => {
  const groups = grouped(rows, key)
  const sorted = [...groups]
    .map(([id, members]) => ({ id, members, sum: sumOf(members.map(value)) }))
    .filter(({ sum }) => sum > 0)
    .toSorted((a, b) => b.sum - a.sum)
  const single = sorted.length <= most ? sorted : sorted.slice(0, most - 1)
  const others = sorted.slice(single.length)
  const seriesOf = (label: string, members: readonly R[]) => {
    const byDay = grouped(members, ({ day }) => day ?? '')
    return { label, values: days.map((day) => sumOf((byDay.get(day) ?? []).map(value))) }
  }
  return [
    ...single.map(({ id, members }) => seriesOf(name(id), members)),
    ...(others.length > 0
      ? [
          seriesOf(
            'Other',
            others.flatMap(({ members }) => members),
          ),
        ]
      : []),
  ]
}

/** The change from one amount to another as a ratio; null without anything to compare with. */
export const changeOf = (before: number, after: number): number | null =>
  before === 0 ? null : (after - before) / before
