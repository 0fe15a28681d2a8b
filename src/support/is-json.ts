/** Deeper values are not looked into. */
const deepest = 100

const isPlain = (value: object): boolean =>
  Object.getPrototypeOf(value) === Object.prototype && !('toJSON' in value)

const within = (value: unknown, depth: number): boolean => {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0)
  if (typeof value !== 'object' || depth === deepest) return false
  if (Array.isArray(value)) {
    if ('toJSON' in value) return false
    for (const one of value) if (!within(one, depth + 1)) return false
    return true
  }
  if (!isPlain(value)) return false
  const fields = value as Readonly<Record<string, unknown>>
  for (const name in fields) if (!within(fields[name], depth + 1)) return false
  return true
}

/** Whether `JSON.parse(JSON.stringify(value))` is the same again; of very deep values it says no. */
export const isJson = (value: unknown): boolean => within(value, 0)
