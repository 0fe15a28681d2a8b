import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { formatCompact } from '../format/numbers.ts'
import { formatDay } from '../format/time.ts'
import { appearance, watchAppearance } from '../shell/theme.ts'
import { IconButton } from './button.tsx'
import styles from './chart.module.css'
import { ScrollRegion } from './scroll-region.tsx'

export type Series = {
  label: string
  values: readonly (number | null)[]
  /** For a state, as `var(--bad)`; else the next one of the series' colors. */
  color?: string
}

const colors = 6
/** The custom property of a series' color; the seventh has that of the first. */
const colorOf = ({ color }: Series, index: number): string =>
  color ?? `var(--series-${(index % colors) + 1})`

/** A color as the canvas takes it: light-dark() is resolved only in a property of an element. */
const resolver = (element: HTMLElement) => {
  const probe = document.createElement('span')
  element.append(probe)
  const resolve = (color: string): string => {
    probe.style.color = color
    return getComputedStyle(probe).color
  }
  return { resolve, end: () => probe.remove() }
}

/** Each series on top of those before it. */
const stackedValues = (series: readonly Series[]): (number | null)[][] => {
  const sums = new Map<number, number>()
  return series.map(({ values }) =>
    values.map((value, index) => {
      const sum = (sums.get(index) ?? 0) + (value ?? 0)
      sums.set(index, sum)
      return sum
    }),
  )
}

/** Distances of an axis of counts. */
const wholeSteps = Array.from({ length: 13 }, (_, n) =>
  [1, 2, 5].map((step) => step * 10 ** n),
).flat()
/** A line over more days has no point for each. */
const mostPoints = 31

type ChartProps = {
  title: string
  /** Days in UTC as `2026-11-26`, without a gap. */
  days: readonly string[]
  series: readonly Series[]
  kind?: 'bars' | 'lines'
  format?: (value: number | null | undefined) => string
  /** Beside the labels of series while no day is under the pointer; the sum unless given. */
  summary?: (values: readonly (number | null)[]) => number | null
  /** Counts: the axis has no fractions. */
  isCount?: boolean
  height?: number
}

const sumOf = (values: readonly (number | null)[]): number =>
  values.reduce<number>((sum, value) => sum + (value ?? 0), 0)

type Plot = Required<Pick<ChartProps, 'days' | 'series' | 'kind' | 'format' | 'height' | 'isCount'>>

const optionsOf = (
  { days, series, kind, format, height, isCount }: Plot,
  width: number,
  resolve: (color: string) => string,
  onDay: (index: number | null) => void,
): uPlot.Options => {
  const soft = resolve('var(--text-soft)')
  const grid = { stroke: resolve('var(--border)'), width: 1 }
  const font = '11px system-ui, sans-serif'
  const isBars = kind === 'bars'
  const bars = uPlot.paths.bars?.({ size: [0.7, 36], radius: 0.1 })
  return {
    width,
    height,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: !isBars } },
    scales: {
      x: { time: false, range: (_plot, min, max) => [min - 0.6, max + 0.6] },
      y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.08 : 1] },
    },
    axes: [
      {
        stroke: soft,
        font,
        grid: { show: false },
        ticks: { show: false },
        size: 24,
        gap: 4,
        space: 56,
        incrs: [1, 2, 5, 7, 14, 30, 90],
        values: (_plot, splits) =>
          splits.map((split) => {
            const day = days[split]
            return day === undefined ? '' : formatDay(day)
          }),
      },
      {
        stroke: soft,
        font,
        grid,
        ticks: { show: false },
        size: 56,
        gap: 6,
        space: 34,
        ...(isCount ? { incrs: wholeSteps } : {}),
        values: (_plot, splits) => splits.map((split) => format(split)),
      },
    ],
    // The tallest stack is drawn first, so that the lower ones are in front of it.
    series: [
      {},
      ...series
        .map((line, index) => {
          const color = resolve(colorOf(line, index))
          return {
            label: line.label,
            stroke: color,
            width: isBars ? 0 : 2,
            points: { show: !isBars && days.length <= mostPoints, size: 5, fill: color },
            ...(isBars && bars ? { fill: color, paths: bars } : {}),
          }
        })
        .toReversed(),
    ],
    hooks: { setCursor: [({ cursor }) => onDay(cursor.idx ?? null)] },
  }
}

/** Draws on a canvas and again whenever data, width or appearance change. */
const usePlot = (plot: Plot) => {
  const ref = useRef<HTMLDivElement>(null)
  const [day, setDay] = useState<number | null>(null)
  const look = useSyncExternalStore(watchAppearance, appearance)
  // biome-ignore lint/correctness/useExhaustiveDependencies: colors depend on the appearance
  useEffect(() => {
    const element = ref.current
    if (!element) return undefined
    const { resolve, end } = resolver(element)
    const { kind, series, days } = plot
    const columns =
      kind === 'bars' ? stackedValues(series) : series.map(({ values }) => [...values])
    const data: uPlot.AlignedData = [days.map((_, index) => index), ...columns.toReversed()]
    const chart = new uPlot(optionsOf(plot, element.clientWidth, resolve, setDay), data, element)
    end()
    const observer = new ResizeObserver(() => {
      const width = element.clientWidth
      if (width > 0) chart.setSize({ width, height: plot.height })
    })
    observer.observe(element)
    return () => {
      observer.disconnect()
      chart.destroy()
    }
  }, [plot.days, plot.series, plot.kind, plot.height, look])
  return { ref, day }
}

const ValueTable = ({
  title,
  days,
  series,
  format,
}: Pick<Plot, 'days' | 'series' | 'format'> & { title: string }) => (
  <ScrollRegion className={styles.table} label={title}>
    <table>
      <thead>
        <tr>
          <th scope="col">Day</th>
          {series.map(({ label }) => (
            <th key={label} scope="col">
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {days.map((day, index) => (
          <tr key={day}>
            <th scope="row">{day}</th>
            {series.map(({ label, values }) => (
              <td key={label}>{format(values[index])}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </ScrollRegion>
)

/**
 * Numbers by day, as stacked bars or as lines. The legend has the values of the day under the
 * pointer; a button shows all of them as a table. `days` and `series` have to be memoized.
 */
export const Chart = (props: ChartProps) => {
  const {
    title,
    days,
    series,
    kind = 'bars',
    format = formatCompact,
    summary = sumOf,
    height = 168,
    isCount = format === formatCompact,
  } = props
  const [isTable, setTable] = useState(false)
  const { ref, day } = usePlot({ days, series, kind, format, height, isCount })
  const isEmpty = series.every(({ values }) => values.every((value) => !value))
  const isOnDay = day !== null && days[day] !== undefined
  return (
    <figure className={styles.chart}>
      <figcaption className={styles.caption}>
        <span className={styles.title}>{title}</span>
        <span className="row soft small">
          {isOnDay && <span className="number">{formatDay(days[day] ?? '')}</span>}
          <IconButton
            icon={isTable ? 'overview' : 'table'}
            label={`Show ${title} as a ${isTable ? 'chart' : 'table'}`}
            onPress={() => setTable(!isTable)}
          />
        </span>
      </figcaption>
      <ul className={styles.legend}>
        {series.map((line, index) => (
          <li key={line.label}>
            <span className={styles.swatch} style={{ background: colorOf(line, index) }} />
            <span className={`truncate ${styles.name}`} title={line.label}>
              {line.label}
            </span>
            <strong className="number">
              {format(isOnDay ? line.values[day] : summary(line.values))}
            </strong>
          </li>
        ))}
      </ul>
      <div className={styles.plot} hidden={isTable}>
        <div ref={ref} role="img" aria-label={`${title} by day`} />
        {isEmpty && <p className={styles.empty}>Nothing in this time</p>}
      </div>
      {isTable && <ValueTable title={title} days={days} series={series} format={format} />}
    </figure>
  )
}
