/**
 * Deeper values are not stored: MongoDB nests 100 levels, a document has more around an event's.
 */
const deepest = 50

/** The most bytes that a character of a string takes as JSON: an escape. */
const characterBytes = 6
/** No number, boolean or null takes more. */
const scalarBytes = 24
/** Quotes of a name or a string, a colon and a comma. */
const marks = 4

/** Running totals of a check. */
export type Look = {
  /** Upper bound of their bytes as JSON. */
  bytes: number
  /** The last value has undefined fields or -0, so its JSON reads as a different value. */
  changes: boolean
}

/** A value that JSON has no form for, or that is another one once it is read. */
export class NotStorable extends Error {
  override readonly name = 'NotStorable'
  /** Where it is: names and indexes. */
  readonly path: readonly (string | number)[]
  constructor(path: readonly (string | number)[]) {
    super(`JSON has no form for the value at ${path.join('.')}`)
    this.path = path
  }
}

type Path = (string | number)[]

/** The path of a value inside that does not fit, its last part first; undefined: there is none. */
const misfitIn = (value: unknown, depth: number, look: Look): Path | undefined => {
  if (typeof value === 'string') {
    look.bytes += characterBytes * value.length + marks
    return value.isWellFormed() ? undefined : []
  }
  if (typeof value !== 'object' || value === null) {
    look.bytes += scalarBytes
    if (Object.is(value, -0)) look.changes = true
    const fits = value === null || typeof value === 'boolean' || Number.isFinite(value)
    return fits ? undefined : []
  }
  if (depth === deepest) return []
  look.bytes += marks
  return Array.isArray(value) ? inList(value, depth, look) : inFields(value, depth, look)
}

const inList = (list: readonly unknown[], depth: number, look: Look): Path | undefined => {
  // JSON has no form for a field of an array.
  if (Object.keys(list).length > list.length) look.changes = true
  // By index: gaps are found.
  for (let n = 0; n < list.length; n++) {
    const path = misfitIn(list[n], depth + 1, look)
    if (path) return [...path, n]
  }
  return undefined
}

const inFields = (value: object, depth: number, look: Look): Path | undefined => {
  const kind = Object.getPrototypeOf(value)
  if (kind !== Object.prototype && kind !== null) return []
  const fields = value as Readonly<Record<string, unknown>>
  for (const name in fields) {
    const field = fields[name]
    if (field === undefined) {
      look.changes = true
      continue
    }
    look.bytes += characterBytes * name.length + marks
    const path = name.isWellFormed() ? misfitIn(field, depth + 1, look) : []
    if (path) return [...path, name]
  }
  return undefined
}

/**
 * A value as it reads after being stored as JSON: undefined fields are removed. Adds its bytes to
 * the totals.
 * @throws NotStorable
 */
export const storedForm = (value: unknown, look: Look): unknown => {
  look.changes = false
  const path = misfitIn(value, 0, look)
  if (path) throw new NotStorable(path.toReversed())
  return look.changes ? JSON.parse(JSON.stringify(value)) : value
}
