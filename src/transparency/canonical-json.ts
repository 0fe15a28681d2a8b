/** What JSON writes as it is. */
const plain = /^[ !#-[\]-~]*$/

/** A text as JSON writes it. */
export const quoted = (text: string): string =>
  plain.test(text) ? `"${text}"` : JSON.stringify(text)

/** Most keys are the events' own: so many, and none longer, are kept as JSON. */
const [mostNames, longestName] = [1_000, 64]
const names = new Map<string, string>()

/** A key and the colon after it. */
const named = (key: string): string => {
  const known = names.get(key)
  if (known !== undefined) return known
  const text = `${quoted(key)}:`
  if (names.size < mostNames && key.length <= longestName) names.set(key, text)
  return text
}

/** With more keys, sorting one by one takes longer. */
const fewKeys = 24

/** In the order of their UTF-16 code units. Sorting few keys here allocates no memory. */
const sortedKeys = (value: object): string[] => {
  const keys = Object.keys(value)
  if (keys.length > fewKeys) return keys.sort()
  for (let n = 1; n < keys.length; n++) {
    const key = keys[n] ?? ''
    let at = n
    for (; at > 0 && (keys[at - 1] ?? '') > key; at--) keys[at] = keys[at - 1] ?? ''
    keys[at] = key
  }
  return keys
}

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
  for (const key of sortedKeys(value))
    text += (text === '' ? '' : ',') + named(key) + canonicalJson(Reflect.get(value, key))
  return `{${text}}`
}
