/** What JSON writes as it is. */
const plain = /^[ !#-[\]-~]*$/

/** A text as JSON writes it. */
export const quoted = (text: string): string =>
  plain.test(text) ? `"${text}"` : JSON.stringify(text)

/**
 * A JSON value as RFC 8785 writes it: keys in the order of their UTF-16 code units, no blanks,
 * numbers and strings as in ECMAScript. RFC 8785 has no form for half a surrogate pair; it is
 * written as JSON's escape, so that every stored text has a form.
 */
export const canonicalJson = (value: unknown): string => {
  if (typeof value === 'string') return quoted(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  let text = ''
  if (Array.isArray(value)) {
    for (const item of value) text += `${text === '' ? '' : ','}${canonicalJson(item)}`
    return `[${text}]`
  }
  for (const key of Object.keys(value).sort())
    text += `${text === '' ? '' : ','}${quoted(key)}:${canonicalJson(Reflect.get(value, key))}`
  return `{${text}}`
}
