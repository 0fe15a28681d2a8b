/** What no plain copy is the same as JSON of. */
class NotPlain extends Error {
  override readonly name = 'NotPlain'
}

const notPlain = new NotPlain()

type Json = { [name: string]: unknown }

const isPlain = (value: object): value is Json => {
  const prototype = Object.getPrototypeOf(value)
  return (prototype === Object.prototype || prototype === null) && !('toJSON' in value)
}

const copyOf = (value: unknown): unknown => {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw notPlain
    return value + 0
  }
  if (typeof value !== 'object') throw notPlain
  if (Array.isArray(value)) {
    if ('toJSON' in value) throw notPlain
    const copy: unknown[] = []
    for (const one of value) copy.push(copyOf(one))
    return copy
  }
  if (!isPlain(value)) throw notPlain
  const copy: Json = {}
  for (const name in value) {
    const one = value[name]
    if (one === undefined) continue
    if (name === '__proto__') throw notPlain
    copy[name] = copyOf(one)
  }
  return copy
}

/**
 * What `JSON.parse(JSON.stringify(value))` gives, its strings shared and nothing parsed; undefined
 * where a value is not plain, as dates and infinite numbers are not.
 */
export const jsonCopy = <Value>(value: Value): Value | undefined => {
  try {
    return copyOf(value) as Value
  } catch (error) {
    if (error instanceof NotPlain || error instanceof RangeError) return undefined
    throw error
  }
}
