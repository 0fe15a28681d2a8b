import type { Writing } from './utf8.ts'

/** Deeper values are not written. */
const deepest = 100

const isPlain = (value: object): boolean =>
  Object.getPrototypeOf(value) === Object.prototype && !('toJSON' in value)

const wroteList = (list: readonly unknown[], depth: number, to: Writing): boolean => {
  if ('toJSON' in list) return false
  to.write('[')
  for (let n = 0; n < list.length; n++) {
    if (n > 0) to.write(',')
    if (!wrote(list[n], depth, to)) return false
  }
  to.write(']')
  return true
}

const wroteFields = (
  fields: Readonly<Record<string, unknown>>,
  depth: number,
  to: Writing,
): boolean => {
  if (!isPlain(fields)) return false
  to.write('{')
  let isFirst = true
  for (const name in fields) {
    if (!isFirst) to.write(',')
    isFirst = false
    to.json(name)
    to.write(':')
    if (!wrote(fields[name], depth, to)) return false
  }
  to.write('}')
  return true
}

/** Whether a value could be written as it is. */
const wrote = (value: unknown, depth: number, to: Writing): boolean => {
  if (typeof value === 'string') {
    to.json(value)
    return true
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value) || Object.is(value, -0)) return false
    to.write(String(value))
    return true
  }
  if (typeof value === 'boolean' || value === null) {
    to.write(String(value))
    return true
  }
  if (typeof value !== 'object' || depth === deepest) return false
  return Array.isArray(value)
    ? wroteList(value, depth + 1, to)
    : wroteFields(value as Readonly<Record<string, unknown>>, depth + 1, to)
}

/**
 * Writes a value as JSON.stringify does, or null where that leaves it out. Answers whether it is the same again once it
 * is read, as far as is known: very deep values are not looked at. The text that JSON.stringify makes, with its parts
 * and its encoding, costs three times its length of V8's heap.
 */
export const writeJson = (value: unknown, to: Writing): boolean => {
  const before = to.length()
  if (wrote(value, 0, to)) return true
  to.cut(before)
  to.write(JSON.stringify(value) ?? 'null')
  return false
}
