// biome-ignore-all lint/a11y/useSemanticElements: a table cannot show only the rows in view
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus and names its row
// biome-ignore-all lint/a11y/useKeyWithClickEvents: the grid takes the keys
// biome-ignore-all lint/a11y/noStaticElementInteractions: ← and → of the grid do the same
import { type KeyboardEvent, useEffect, useMemo, useRef } from 'react'
import { Count, Credits, Duration } from '../../components/amounts.tsx'
import { classNames } from '../../components/class-names.ts'
import { Icon, type IconName } from '../../components/icon.tsx'
import { Status } from '../../components/status.tsx'
import { formatDuration } from '../../format/duration.ts'
import styles from './steps.module.css'
import { barOf, isFailed, type Span, type Step, type StepRow, ticksOf } from './steps.ts'
import { useWindow } from './use-window.ts'

const rowRem = 2

const icons: Readonly<Record<Step['kind'], IconName>> = {
  agent: 'agents',
  model: 'playground',
  tool: 'table',
  approval: 'approvals',
  attempt: 'refresh',
}

const quiet: ReadonlySet<string> = new Set(['completed', 'approved'])

/** The color of a bar: its state, else its kind. */
const barClass = (step: Step): string | undefined => {
  if (isFailed(step)) return styles.barFailed
  if (step.status === 'pending' || step.status === 'paused') return styles.barWaiting
  return styles[step.kind]
}

const rowId = (step: Step): string => `step-${step.step_id}`

/** Failures have a sign, so names stay readable. Other open states have a word. */
const Mark = ({ step }: { step: Step }) => {
  if (isFailed(step))
    return (
      <span className={styles.mark} title={step.status.replaceAll('_', ' ')}>
        <Icon name="warning" size={14} />
        <span className="visually-hidden">{step.status.replaceAll('_', ' ')}</span>
      </span>
    )
  return quiet.has(step.status) ? null : <Status status={step.status} />
}

type RowProps = {
  row: StepRow
  index: number
  top: number
  span: Span
  now: number
  isSelected: boolean
  isMatch: boolean
  onSelect: () => void
  onToggle: () => void
}

const Row = ({ row, index, top, span, now, isSelected, isMatch, onSelect, onToggle }: RowProps) => {
  const { step, depth, children, isExpanded } = row
  const { offset, width } = barOf(step, span, now)
  return (
    <div
      role="row"
      id={rowId(step)}
      aria-level={depth + 1}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      aria-expanded={children > 0 ? isExpanded : undefined}
      className={classNames(
        styles.row,
        isSelected && styles.selected,
        isFailed(step) && styles.failed,
        isMatch && styles.match,
      )}
      style={{ top }}
      onClick={onSelect}
    >
      <div role="gridcell" className={styles.name} style={{ paddingInlineStart: `${depth}rem` }}>
        {children > 0 ? (
          <span
            className={classNames(styles.toggle, isExpanded && styles.expanded)}
            onClick={(event) => {
              event.stopPropagation()
              onToggle()
            }}
          >
            <Icon name="chevron-right" size={12} />
          </span>
        ) : (
          <span className={styles.toggle} />
        )}
        <Icon name={icons[step.kind]} size={14} />
        <span className="visually-hidden">{step.kind}</span>
        <span className="truncate" dir="auto" title={`${step.kind}: ${step.name}`}>
          {step.name || step.kind}
        </span>
        <Mark step={step} />
      </div>
      <div role="gridcell" className={styles.time} aria-label={`Starts at ${offset.toFixed(2)}`}>
        <span
          className={classNames(styles.bar, barClass(step))}
          style={{ insetInlineStart: `${offset * 100}%`, width: `${width * 100}%` }}
        />
      </div>
      <div role="gridcell" className={styles.number}>
        <Duration ms={step.duration_ms} />
      </div>
      <div role="gridcell" className={classNames(styles.number, styles.amount)}>
        <Count of={step.tokens} />
      </div>
      <div role="gridcell" className={classNames(styles.number, styles.amount)}>
        <Credits amount={step.charge} />
      </div>
    </div>
  )
}

const Head = ({ span }: { span: Span }) => {
  const length = span.end - span.start
  return (
    <div role="row" aria-rowindex={1} className={styles.head}>
      <div role="columnheader">Step</div>
      <div role="columnheader" className={styles.axis} aria-label="Timeline">
        {ticksOf(span).map((tick) => (
          <span key={tick} style={{ insetInlineStart: `${(tick / length) * 100}%` }}>
            {formatDuration(tick)}
          </span>
        ))}
      </div>
      <div role="columnheader" className={styles.number}>
        Duration
      </div>
      <div role="columnheader" className={classNames(styles.number, styles.amount)}>
        Tokens
      </div>
      <div role="columnheader" className={classNames(styles.number, styles.amount)}>
        Credits
      </div>
    </div>
  )
}

type StepTreeProps = {
  rows: readonly StepRow[]
  span: Span
  now: number
  selected: string | undefined
  matches: ReadonlySet<string> | undefined
  onSelect: (id: string) => void
  onToggle: (id: string) => void
}

/**
 * The steps as a tree with a timeline. Only rows in view are rendered. ↑ and ↓ select, ← and →
 * collapse and expand, Home and End lead to the first and last.
 */
export const StepTree = (props: StepTreeProps) => {
  const { rows, span, now, selected, matches, onSelect, onToggle } = props
  const ref = useRef<HTMLDivElement>(null)
  const { first, last, rowHeight } = useWindow(ref, rows.length, rowRem)
  const indexOf = useMemo(
    () => new Map(rows.map(({ step }, index) => [step.step_id, index])),
    [rows],
  )
  const at = selected === undefined ? -1 : (indexOf.get(selected) ?? -1)
  const isKnown = at !== -1
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another selection scrolls
  useEffect(() => {
    const element = ref.current
    if (!element || !isKnown) return
    const top = at * rowHeight
    if (top < element.scrollTop) element.scrollTop = top
    const bottom = top + 2 * rowHeight
    if (bottom > element.scrollTop + element.clientHeight)
      element.scrollTop = bottom - element.clientHeight
  }, [selected, isKnown])
  const select = (index: number) => {
    const row = rows[Math.min(Math.max(index, 0), rows.length - 1)]
    if (row) onSelect(row.step.step_id)
  }
  const current = rows[at]
  const parentAt = () => {
    const depth = current?.depth ?? 0
    for (let index = at - 1; index >= 0; index--)
      if ((rows[index]?.depth ?? 0) < depth) return index
    return at
  }
  const page = Math.max(1, Math.floor((ref.current?.clientHeight ?? 0) / rowHeight) - 2)
  const keys: Readonly<Record<string, () => void>> = {
    ArrowDown: () => select(at + 1),
    ArrowUp: () => select(at - 1),
    PageDown: () => select(at + page),
    PageUp: () => select(at - page),
    Home: () => select(0),
    End: () => select(rows.length - 1),
    ArrowRight: () => {
      if (!current?.children) return
      if (current.isExpanded) select(at + 1)
      else onToggle(current.step.step_id)
    },
    ArrowLeft: () => {
      if (current?.children && current.isExpanded) onToggle(current.step.step_id)
      else select(parentAt())
    },
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const act = event.altKey || event.ctrlKey || event.metaKey ? undefined : keys[event.key]
    if (!act) return
    event.preventDefault()
    act()
  }
  const visibleRows = rows.slice(first, last)
  const isRendered = at >= first && at < last
  return (
    <div
      ref={ref}
      role="treegrid"
      aria-label="Steps"
      aria-rowcount={rows.length + 1}
      aria-activedescendant={isRendered && current ? rowId(current.step) : undefined}
      tabIndex={0}
      className={styles.grid}
      onKeyDown={onKeyDown}
    >
      <Head span={span} />
      <div role="rowgroup" className={styles.rows} style={{ height: rows.length * rowHeight }}>
        {visibleRows.map((row, offset) => {
          const index = first + offset
          const { step_id: id } = row.step
          return (
            <Row
              key={id}
              row={row}
              index={index}
              top={index * rowHeight}
              span={span}
              now={now}
              isSelected={id === selected}
              isMatch={matches?.has(id) ?? false}
              onSelect={() => onSelect(id)}
              onToggle={() => onToggle(id)}
            />
          )
        })}
      </div>
    </div>
  )
}
