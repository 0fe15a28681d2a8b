import { cutText } from '../../support/cut-text.ts'
import { isObject, type Fields as Schema } from '../../support/fields.ts'

/** Values and characters of one value in all, and its levels. What is beyond is null. */
const mostParts = 20_000
const deepest = 64

const byFormat: Readonly<Record<string, string>> = {
  'date-time': '2000-01-01T00:00:00Z',
  date: '2000-01-01',
  time: '00:00:00Z',
  duration: 'P0D',
  email: 'a@example.com',
  hostname: 'example.com',
  ipv4: '0.0.0.0',
  ipv6: '::',
  uri: 'https://example.com',
  uuid: '00000000-0000-0000-0000-000000000000',
}

const numberIn = (schema: Schema, key: string): number | undefined => {
  const value = schema[key]
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

const listIn = (schema: Schema, key: string): readonly unknown[] => {
  const value = schema[key]
  return Array.isArray(value) ? value : []
}

/** The number nearest to zero that fits. */
const numeral = (schema: Schema, isInteger: boolean): number => {
  const step = numberIn(schema, 'multipleOf') ?? (isInteger ? 1 : 0)
  const above = numberIn(schema, 'exclusiveMinimum')
  const below = numberIn(schema, 'exclusiveMaximum')
  const next = step > 0 ? step : 1
  const least = Math.max(
    numberIn(schema, 'minimum') ?? Number.NEGATIVE_INFINITY,
    above === undefined ? Number.NEGATIVE_INFINITY : above + (step > 0 ? step / 2 : 0.5),
  )
  const most = Math.min(
    numberIn(schema, 'maximum') ?? Number.POSITIVE_INFINITY,
    below === undefined ? Number.POSITIVE_INFINITY : below - (step > 0 ? step / 2 : 0.5),
  )
  if (least > 0) return step > 0 ? Math.ceil(least / next) * next : Math.min(least, most)
  if (most < 0) return step > 0 ? Math.floor(most / next) * next : Math.max(least, most)
  return 0
}

/** The type of a schema, which it may not name. */
const typeOf = (schema: Schema): unknown => {
  const { type } = schema
  if (Array.isArray(type)) return type.find((name) => name !== 'null') ?? type[0]
  if (type !== undefined) return type
  if (schema.properties !== undefined || schema.required !== undefined) return 'object'
  return schema.items !== undefined || schema.prefixItems !== undefined ? 'array' : 'string'
}

/**
 * The smallest value that fits a JSON Schema, as far as its keywords allow to tell: patterns and
 * conditions are not read. `given` is what is there already, at the top; the first text without a
 * format or pattern says `words`.
 */
export const smallestValue = (root: unknown, given: Schema = {}, words = ''): unknown => {
  let left = mostParts
  let unsaid = words

  /** Takes as many parts as are left, at most so many. */
  const take = (wanted: number): number => {
    const length = Math.max(0, Math.min(Math.floor(wanted), left))
    left -= length
    return length
  }

  const text = (schema: Schema): string => {
    const { format, pattern } = schema
    const known = typeof format === 'string' ? byFormat[format] : undefined
    const isFree = format === undefined && pattern === undefined
    const start = isFree ? cutText(unsaid, numberIn(schema, 'maxLength') ?? unsaid.length) : ''
    if (isFree) unsaid = ''
    return (known ?? start).padEnd(take(numberIn(schema, 'minLength') ?? 0), 'a')
  }

  const lookedUp = (reference: string): unknown => {
    let at: unknown = root
    for (const part of reference.replace(/^#\/?/, '').split('/')) {
      if (part === '') continue
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
      at = (isObject(at) || Array.isArray(at)) && Object.hasOwn(at, key) ? Reflect.get(at, key) : {}
    }
    return at
  }

  /** Each reference is looked up once, however often the schema has it. */
  const known = new Map<string, unknown>()
  const referred = (reference: string): unknown => {
    if (!known.has(reference)) known.set(reference, lookedUp(reference))
    return known.get(reference)
  }

  /** A value of the schema, if enough characters are left for it. */
  const copy = (given: unknown): unknown => {
    const { length } = JSON.stringify(given) ?? ''
    return take(length) === length ? given : null
  }

  const object = (schema: Schema, own: Schema, depth: number): unknown => {
    const properties = isObject(schema.properties) ? schema.properties : {}
    const names = listIn(schema, 'required')
    const entries = names
      .slice(0, take(names.length))
      .flatMap((key) =>
        typeof key === 'string' && !Object.hasOwn(own, key) && take(key.length) === key.length
          ? [
              [
                key,
                value(Object.hasOwn(properties, key) ? properties[key] : {}, {}, depth),
              ] as const,
            ]
          : [],
      )
    return { ...own, ...Object.fromEntries(entries) }
  }

  const array = (schema: Schema, depth: number): unknown[] => {
    const first = listIn(schema, 'prefixItems')
    const length = take(numberIn(schema, 'minItems') ?? 0)
    return Array.from({ length }, (_, n) => value(first[n] ?? schema.items ?? {}, {}, depth))
  }

  const value = (schema: unknown, own: Schema, above: number): unknown => {
    const depth = above + 1
    if (depth > deepest || !isObject(schema)) return null
    left -= 1 + Object.keys(schema).length
    if (left < 0) return null
    if (typeof schema.$ref === 'string') return value(referred(schema.$ref), own, depth)
    if (schema.const !== undefined) return copy(schema.const)
    if (Array.isArray(schema.enum)) return copy(schema.enum[0])
    if (schema.default !== undefined) return copy(schema.default)
    const choices = [...listIn(schema, 'anyOf'), ...listIn(schema, 'oneOf')]
    const all = listIn(schema, 'allOf').filter(isObject)
    // Copied values are counted.
    left -= choices.length + all.reduce((sum, part) => sum + Object.keys(part).length, 0)
    const { anyOf: _, oneOf: __, allOf: ___, ...rest } = schema
    if (choices.length > 0) {
      const choice =
        choices.find((option) => isObject(option) && option.type === 'null') ?? choices[0]
      return value(isObject(choice) ? { ...rest, ...choice } : choice, own, depth)
    }
    if (all.length > 0) return value(Object.assign({}, rest, ...all), own, depth)
    switch (typeOf(schema)) {
      case 'object':
        return object(schema, own, depth)
      case 'array':
        return array(schema, depth)
      case 'integer':
        return numeral(schema, true)
      case 'number':
        return numeral(schema, false)
      case 'boolean':
        return false
      case 'null':
        return null
      default:
        return text(schema)
    }
  }

  return value(root, given, 0)
}
