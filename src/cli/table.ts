/** Rows below a heading, in columns as wide as their values; `(none)` without rows. */
export const table = (rows: readonly (readonly string[])[]): string => {
  const columns = Math.max(0, ...rows.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, n) =>
    Math.max(...rows.map((row) => row[n]?.length ?? 0)),
  )
  return rows
    .map((row) =>
      row
        .map((cell, n) => cell.padEnd(widths[n] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .concat(rows.length === 1 ? '(none)' : [])
    .join('\n')
}
