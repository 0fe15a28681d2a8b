/** What pdf.js says of an annotation; it declares no type. */
export type Annotation = Readonly<Record<string, unknown>>

export const stringsIn = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((item) => typeof item === 'string' && item !== '')

/** The value that a form shows; a choice has names for its values. */
const fieldValue = (annotation: Annotation): string => {
  const { checkBox, radioButton, fieldValue, exportValue, buttonValue, options } = annotation
  if (checkBox || radioButton) {
    const isSet = fieldValue === (radioButton ? buttonValue : exportValue)
    return isSet ? stringsIn(fieldValue).join('') : ''
  }
  const names = new Map<unknown, unknown>(
    Array.isArray(options)
      ? options.map(({ exportValue, displayValue }) => [exportValue, displayValue])
      : [],
  )
  return stringsIn(fieldValue)
    .map((value) => names.get(value) ?? value)
    .join(', ')
}

/** The text of an annotation, or the name and value of a form field; no passwords. */
export const annotationText = (annotation: Annotation): string => {
  const { subtype, password, alternativeText, fieldName, contentsObj } = annotation
  if (subtype === 'Popup' || password) return ''
  if (subtype !== 'Widget')
    return stringsIn((contentsObj as { str?: unknown } | null)?.str).join('')
  const value = fieldValue(annotation)
  const [name] = [...stringsIn(alternativeText), ...stringsIn(fieldName)]
  return value && name ? `${name}: ${value}` : value
}
