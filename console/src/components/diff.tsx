import { useMemo, useState } from 'react'
import { Button } from './button.tsx'
import { classNames } from './class-names.ts'
import styles from './diff.module.css'
import { type JsonChange, jsonChanges } from './json-diff.ts'

const firstMost = 100

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? 'undefined')

const labels = { added: 'Added', removed: 'Removed', changed: 'Changed' } as const

const Change = ({ change }: { change: JsonChange }) => (
  <li className={styles.change}>
    <div className="row">
      <code className={styles.path}>{change.path || 'value'}</code>
      <span className="soft">{labels[change.kind]}</span>
    </div>
    {change.kind !== 'added' && (
      <del className={classNames(styles.value, styles.before)}>
        <span aria-hidden="true">−</span>
        <span dir="auto">{textOf(change.before)}</span>
      </del>
    )}
    {change.kind !== 'removed' && (
      <ins className={classNames(styles.value, styles.after)}>
        <span aria-hidden="true">+</span>
        <span dir="auto">{textOf(change.after)}</span>
      </ins>
    )}
  </li>
)

type DiffProps = { before: unknown; after: unknown }

/** The differences of two JSON values, each with its path. */
export const Diff = ({ before, after }: DiffProps) => {
  const [isWhole, setWhole] = useState(false)
  const changes = useMemo(() => jsonChanges(before, after), [before, after])
  if (changes.length === 0) return <p className="soft">No differences</p>
  const visible = isWhole ? changes : changes.slice(0, firstMost)
  return (
    <div className="stack">
      <ul className={styles.list}>
        {visible.map((change) => (
          <Change key={change.path} change={change} />
        ))}
      </ul>
      {visible.length < changes.length && (
        <div>
          <Button onPress={() => setWhole(true)}>Show all {changes.length} differences</Button>
        </div>
      )}
    </div>
  )
}
