import { useMemo, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { classNames } from '../../components/class-names.ts'
import { EmptyState } from '../../components/states.tsx'
import { useNow } from '../../components/time.tsx'
import type { RunSummary } from '../runs/runs-queries.ts'
import { isOpen } from './run-queries.ts'
import { StepDetail } from './step-detail.tsx'
import { StepTree } from './step-tree.tsx'
import styles from './steps.module.css'
import { rowsOf, type Step, spanOf, treeOf, visibleSteps } from './steps.ts'

type StepsTabProps = {
  run: RunSummary
  steps: readonly Step[]
  /** There are others that have not been loaded. */
  isPartial: boolean
  matches: ReadonlySet<string> | undefined
  selected: string | undefined
  onSelect: (id: string | undefined) => void
}

const legend = [
  { kind: 'agent', label: 'Agent' },
  { kind: 'model', label: 'Model' },
  { kind: 'tool', label: 'Tool' },
  { kind: 'approval', label: 'Approval' },
  { kind: 'barFailed', label: 'Failed' },
] as const

/** The agents' tree and the timeline of a run in one. */
export const StepsTab = (props: StepsTabProps) => {
  const { run, steps, isPartial, matches, selected, onSelect } = props
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set())
  const present = useNow().getTime()
  const now = isOpen(run) ? Math.max(present, Date.now() - 15_000) : 0
  const tree = useMemo(() => treeOf(steps), [steps])
  const rows = useMemo(
    () => rowsOf(tree, matches ? new Set() : collapsed, visibleSteps(steps, matches)),
    [tree, collapsed, steps, matches],
  )
  const span = useMemo(() => spanOf(steps, now), [steps, now])
  const step = steps.find(({ step_id }) => step_id === selected)
  const toggle = (id: string) => {
    const next = new Set(collapsed)
    if (!next.delete(id)) next.add(id)
    setCollapsed(next)
  }
  if (steps.length === 0)
    return (
      <EmptyState icon="runs" title="No steps">
        No step of this run was recorded. A queued run has none yet.
      </EmptyState>
    )
  return (
    <div className="stack">
      <div className={styles.tools}>
        <Button kind="quiet" icon="expand" onPress={() => setCollapsed(new Set())}>
          Expand all
        </Button>
        <Button
          kind="quiet"
          icon="collapse"
          onPress={() => setCollapsed(new Set(tree.childrenOf.keys()))}
        >
          Collapse all
        </Button>
        <ul className={styles.legend} aria-label="Colors">
          {legend.map(({ kind, label }) => (
            <li key={kind}>
              <span className={styles[kind]} />
              {label}
            </li>
          ))}
        </ul>
        {isPartial && <span className="soft">Loading more steps</span>}
      </div>
      <div className={classNames(styles.layout, step && styles.withDetail)}>
        {rows.length > 0 ? (
          <StepTree
            rows={rows}
            span={span}
            now={now}
            selected={selected}
            matches={matches}
            onSelect={onSelect}
            onToggle={toggle}
          />
        ) : (
          <EmptyState icon="search" title="No steps match" />
        )}
        {step && <StepDetail run={run} step={step} onClose={() => onSelect(undefined)} />}
      </div>
    </div>
  )
}
