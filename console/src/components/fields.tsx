import type { ReactNode } from 'react'
import {
  Button as AriaButton,
  Checkbox as AriaCheckbox,
  type CheckboxProps as AriaCheckboxProps,
  ComboBox as AriaComboBox,
  SearchField as AriaSearchField,
  Select as AriaSelect,
  TextField as AriaTextField,
  type TextFieldProps as AriaTextFieldProps,
  FieldError,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  SelectValue,
  Text,
  TextArea,
} from 'react-aria-components'
import { classNames } from './class-names.ts'
import styles from './fields.module.css'
import { Icon } from './icon.tsx'

type Hints = {
  label: string
  /** The label is read out but not shown; the context shows what the field is for. */
  hideLabel?: boolean
  description?: ReactNode
  /** What is wrong with the value; the server's words fit. */
  error?: string | undefined
}

const FieldLabel = ({ label, hideLabel = false }: Pick<Hints, 'label' | 'hideLabel'>) => (
  <Label className={hideLabel ? 'visually-hidden' : (styles.label ?? '')}>{label}</Label>
)

const FieldHints = ({ description, error }: Pick<Hints, 'description' | 'error'>) => (
  <>
    {description && (
      <Text slot="description" className={styles.description ?? ''}>
        {description}
      </Text>
    )}
    <FieldError className={styles.error ?? ''}>{error}</FieldError>
  </>
)

type TextFieldProps = Omit<AriaTextFieldProps, 'className' | 'children'> &
  Hints & {
    placeholder?: string
    /** Lines of a text of several lines. */
    rows?: number
    mono?: boolean
  }

/** A text, in one line or several. */
export const TextField = (props: TextFieldProps) => {
  const { label, hideLabel = false, description, error, placeholder, rows, mono, ...field } = props
  const inputClass = classNames(styles.input, mono && 'mono')
  return (
    <AriaTextField
      {...field}
      isInvalid={error !== undefined}
      validationBehavior="aria"
      className={styles.field ?? ''}
    >
      <FieldLabel label={label} hideLabel={hideLabel} />
      {rows ? (
        <TextArea
          rows={rows}
          placeholder={placeholder}
          className={classNames(inputClass, styles.area)}
        />
      ) : (
        <Input placeholder={placeholder} className={inputClass} />
      )}
      <FieldHints description={description} error={error} />
    </AriaTextField>
  )
}

export type Option<Id extends string = string> = { id: Id; label: string; hint?: string }

type SelectProps<Id extends string> = Hints & {
  options: readonly Option<Id>[]
  value: Id | null
  onChange: (id: Id) => void
  placeholder?: string
  isDisabled?: boolean
}

/** One of a few options. */
export function Select<Id extends string>(props: SelectProps<Id>) {
  const {
    label,
    hideLabel = false,
    description,
    error,
    options,
    value,
    onChange,
    placeholder,
    isDisabled,
  } = props
  return (
    <AriaSelect
      placeholder={placeholder ?? 'Select'}
      className={styles.field ?? ''}
      selectedKey={value}
      onSelectionChange={(key) => {
        const option = options.find(({ id }) => id === key)
        if (option) onChange(option.id)
      }}
      isInvalid={error !== undefined}
      validationBehavior="aria"
      isDisabled={isDisabled ?? false}
    >
      <FieldLabel label={label} hideLabel={hideLabel} />
      <AriaButton className={styles.select ?? ''}>
        <span className="truncate" title={options.find(({ id }) => id === value)?.label}>
          <SelectValue />
        </span>
        <Icon name="chevron-down" />
      </AriaButton>
      <FieldHints description={description} error={error} />
      <Popover className={styles.popover ?? ''}>
        <ListBox className={styles.list ?? ''} items={options}>
          {(option) => (
            <ListBoxItem id={option.id} textValue={option.label} className={styles.option ?? ''}>
              <span className="truncate">{option.label}</span>
              {option.hint && <span className="soft small">{option.hint}</span>}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </AriaSelect>
  )
}

type ComboFieldProps = Hints & {
  options: readonly Option[]
  value: string
  onChange: (value: string) => void
  placeholder?: string
  isDisabled?: boolean
}

/** A text with suggestions; other texts are possible. */
export const ComboField = (props: ComboFieldProps) => {
  const { label, hideLabel = false, description, error, options, value } = props
  const { onChange, placeholder, isDisabled } = props
  return (
    <AriaComboBox
      className={styles.field ?? ''}
      allowsCustomValue
      menuTrigger="focus"
      defaultItems={options}
      inputValue={value}
      onInputChange={onChange}
      isInvalid={error !== undefined}
      isDisabled={isDisabled ?? false}
    >
      <FieldLabel label={label} hideLabel={hideLabel} />
      <Input placeholder={placeholder} className={styles.input ?? ''} />
      <FieldHints description={description} error={error} />
      <Popover className={styles.popover ?? ''}>
        <ListBox className={styles.list ?? ''}>
          {(option: Option) => (
            <ListBoxItem id={option.id} textValue={option.label} className={styles.option ?? ''}>
              <span className="truncate">{option.label}</span>
              {option.hint && <span className="soft small">{option.hint}</span>}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </AriaComboBox>
  )
}

type SearchFieldProps = {
  label: string
  value: string
  onChange: (value: string) => void
  /** Called with the text on Enter. */
  onSubmit?: (value: string) => void
  placeholder?: string
}

/** Text to search for; Escape clears it. */
export const SearchField = ({ label, placeholder, ...field }: SearchFieldProps) => (
  <AriaSearchField {...field} aria-label={label} className={styles.search ?? ''}>
    <Icon name="search" />
    <Input placeholder={placeholder ?? label} className={styles.input ?? ''} />
  </AriaSearchField>
)

type CheckboxProps = Omit<AriaCheckboxProps, 'className' | 'children'> & { children: ReactNode }

/** A choice of yes or no. */
export const Checkbox = ({ children, ...props }: CheckboxProps) => (
  <AriaCheckbox {...props} className={styles.switch ?? ''}>
    <span className={styles.box}>
      <Icon name="check" size={12} />
    </span>
    {children}
  </AriaCheckbox>
)
