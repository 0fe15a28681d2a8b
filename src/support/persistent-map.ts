/** So many entries are in one list; more are in parts. */
const mostInList = 64
const parts = 256

type Part<Value> = Readonly<Record<string, Value>>

/**
 * An immutable map whose keys are texts, as plain JSON. A change answers a new map and copies a
 * list of at most 64 entries, or one of 256 parts by key, however many entries there are.
 */
export type PersistentMap<Value> =
  | { few: readonly (readonly [key: string, value: Value])[] }
  | { parts: Readonly<Record<string, Part<Value>>> }

/**
 * A copy without a prototype: V8 stores it as a table. In a plain object each new key would make a
 * hidden class, at ten times the cost.
 */
const copyOf = <Value>(part: Part<Value> = {}): Record<string, Value> =>
  Object.assign(Object.create(null), part)

const isBare = (record: object): boolean => {
  for (const _ in record) return false
  return true
}

const partOf = (key: string): number => {
  let sum = 0
  for (let n = 0; n < key.length; n++) sum = (sum * 31 + key.charCodeAt(n)) % 65_521
  return sum % parts
}

const partsFrom = <Value>(entries: readonly (readonly [string, Value])[]) => {
  const record: Record<string, Record<string, Value>> = {}
  for (const [key, value] of entries) {
    const place = partOf(key)
    const part = record[place] ?? copyOf<Value>()
    part[key] = value
    record[place] = part
  }
  return { parts: record }
}

export const emptyMap: PersistentMap<never> = { few: [] }

export const isEmptyMap = (map: PersistentMap<unknown>): boolean =>
  'few' in map ? map.few.length === 0 : isBare(map.parts)

/** The value of a key; undefined where the map has none. */
export const valueIn = <Value>(map: PersistentMap<Value>, key: string): Value | undefined => {
  if ('few' in map) return map.few.find(([other]) => other === key)?.[1]
  const part = map.parts[partOf(key)]
  return part && Object.hasOwn(part, key) ? part[key] : undefined
}

/** In any order. */
export const keysOf = (map: PersistentMap<unknown>): string[] =>
  'few' in map ? map.few.map(([key]) => key) : Object.values(map.parts).flatMap(Object.keys)

/** In any order. */
export const valuesOf = <Value>(map: PersistentMap<Value>): Value[] =>
  'few' in map
    ? map.few.map(([, value]) => value)
    : Object.values(map.parts).flatMap((part) => Object.values(part))

/** The map without a key; a map without entries is `emptyMap`. */
export const withoutKey = <Value>(map: PersistentMap<Value>, key: string): PersistentMap<Value> => {
  if ('few' in map) {
    const few = map.few.filter(([other]) => other !== key)
    return few.length === 0 ? emptyMap : { few }
  }
  const place = partOf(key)
  const { [place]: before, ...others } = map.parts
  const part = copyOf(before)
  delete part[key]
  if (!isBare(part)) return { parts: { ...others, [place]: part } }
  return isBare(others) ? emptyMap : { parts: others }
}

/** The map with a value for a key, in place of the one before. */
export const withEntry = <Value>(
  map: PersistentMap<Value>,
  key: string,
  value: Value,
): PersistentMap<Value> => {
  if ('few' in map) {
    const entries = [...map.few.filter(([other]) => other !== key), [key, value] as const]
    return entries.length > mostInList ? partsFrom(entries) : { few: entries }
  }
  const place = partOf(key)
  const part = copyOf(map.parts[place])
  part[key] = value
  return { parts: { ...map.parts, [place]: part } }
}
