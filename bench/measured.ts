/** One line of the report. */
export type Measured = {
  name: string
  value: number
  unit: string
  /** What the value is divided by; measured in the same run unless its name says otherwise. */
  against?: { name: string; value: number }
  /** For the ratio where there is one, else for the value. */
  aim?: { least: number } | { most: number }
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const [low = 0, high = 0] = [sorted[(sorted.length - 1) >> 1], sorted[middle]]
  return (low + high) / 2
}

/** The smallest value that is at least as large as a share of all of them. */
export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? 0

const ratioOf = ({ value, against }: Measured): number | undefined =>
  against && value / against.value

const isMet = (measured: Measured): boolean | undefined => {
  const { aim, value } = measured
  if (!aim) return undefined
  const reached = ratioOf(measured) ?? value
  return 'least' in aim ? reached >= aim.least : reached <= aim.most
}

const formatNumber = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 })

const cellsOf = (measured: Measured): string[] => {
  const { name, value, unit, against, aim } = measured
  const ratio = ratioOf(measured)
  const met = isMet(measured)
  return [
    name,
    formatNumber(value),
    unit,
    ratio === undefined ? '' : `${formatNumber(ratio)} ×`,
    against ? `${against.name}: ${formatNumber(against.value)}` : '',
    aim ? ('least' in aim ? `≥ ${formatNumber(aim.least)}` : `≤ ${formatNumber(aim.most)}`) : '',
    met === undefined ? '' : met ? 'yes' : 'no',
  ]
}

const titles = ['measured', 'value', 'unit', 'ratio', 'of', 'aim', 'met']
const toTheRight = new Set([1, 3, 5])

/** A Markdown table that is as well read on a terminal. */
export const tableOf = (all: readonly Measured[]): string => {
  const rows = [titles, ...all.map(cellsOf)]
  const widths = titles.map((_, n) => Math.max(...rows.map((row) => row[n]?.length ?? 0)))
  const line = (cells: readonly string[]) => {
    const padded = cells.map((cell, n) =>
      toTheRight.has(n) ? cell.padStart(widths[n] ?? 0) : cell.padEnd(widths[n] ?? 0),
    )
    return `| ${padded.join(' | ')} |`
  }
  const rule = widths.map((width, n) =>
    toTheRight.has(n) ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width),
  )
  const [head = [], ...body] = rows
  return [line(head), line(rule), ...body.map(line)].join('\n')
}
