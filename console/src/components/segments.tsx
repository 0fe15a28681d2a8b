import { Radio, RadioGroup } from 'react-aria-components'
import styles from './segments.module.css'

type SegmentsProps<Id extends string> = {
  label: string
  options: readonly { id: Id; label: string }[]
  value: Id
  onChange: (id: Id) => void
}

/** One of two to five options, all of them in sight. */
export function Segments<Id extends string>({
  label,
  options,
  value,
  onChange,
}: SegmentsProps<Id>) {
  return (
    <RadioGroup
      aria-label={label}
      orientation="horizontal"
      className={styles.segments ?? ''}
      value={value}
      onChange={(chosen) => {
        const option = options.find(({ id }) => id === chosen)
        if (option) onChange(option.id)
      }}
    >
      {options.map(({ id, label: words }) => (
        <Radio key={id} value={id} className={styles.segment ?? ''}>
          {words}
        </Radio>
      ))}
    </RadioGroup>
  )
}
