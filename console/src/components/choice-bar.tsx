import { ToggleButton, ToggleButtonGroup } from 'react-aria-components'
import styles from './choice-bar.module.css'
import type { Option } from './fields.tsx'

type ChoiceBarProps<Id extends string> = {
  label: string
  options: readonly Option<Id>[]
  value: Id
  onChange: (id: Id) => void
}

/** One of a few options, all in view and at one click. */
export function ChoiceBar<Id extends string>(props: ChoiceBarProps<Id>) {
  const { label, options, value, onChange } = props
  return (
    <ToggleButtonGroup
      aria-label={label}
      className={styles.bar ?? ''}
      disallowEmptySelection
      selectedKeys={[value]}
      onSelectionChange={(keys) => {
        const option = options.find(({ id }) => keys.has(id))
        if (option) onChange(option.id)
      }}
    >
      {options.map(({ id, label: words }) => (
        <ToggleButton key={id} id={id} className={styles.choice ?? ''}>
          {words}
        </ToggleButton>
      ))}
    </ToggleButtonGroup>
  )
}
