import fc from 'fast-check'

/** As much of JSON Schema as the OpenAPI document uses. */
export type Schema = {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  items?: Schema
  minItems?: number
  maxItems?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  format?: string
  minimum?: number
  maximum?: number
  default?: unknown
}

/** Values that a name stands for, wherever it occurs: ids that exist, say. */
export type Named = Readonly<Record<string, fc.Arbitrary<unknown>>>

const nested = (depth: number): unknown => {
  let value: unknown = 'deep'
  for (let n = 0; n < depth; n++) value = n % 2 ? { a: value } : [value]
  return value
}

/** Texts that have broken servers before. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\0',
    'a\0b',
    '\ud800',
    '\udfff\ud800',
    '\u202e\ufeff',
    '__proto__',
    'constructor',
    'toString',
    'null',
    'NaN',
    '-1',
    '1e999',
    '9007199254740993',
    '../../etc/passwd',
    '%00',
    '{{credential:A}}',
    '{missing}',
    '<script>alert(1)</script>',
    `'; DROP TABLE users; --`,
    `${'a'.repeat(40)}!`,
    'x'.repeat(5_000),
    '𝒳'.repeat(200),
    '0198c0de-0000-7000-8000-000000000001',
    '1969-12-31T23:59:60Z',
    '+275760-09-14T00:00:00.000Z',
    'data:text/plain,a',
    'a@b',
    'a@[127.0.0.1]',
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
)

/** Values of a wrong type, out of every bound, or too deep. */
export const hostile: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -0,
    -1,
    0.5,
    1e308,
    -1e308,
    2 ** 53,
    -(2 ** 63),
    [],
    {},
    [null],
    [[]],
    { length: -1 },
    { toJSON: 'a', constructor: { prototype: null } },
    nested(1_000),
    Array(2_000).fill('a'),
  ),
  fc.jsonValue({ maxDepth: 2 }),
)

const text = ({ minLength = 0, maxLength = 40, pattern, format }: Schema) => {
  if (format === 'uuid') return fc.uuid()
  if (format === 'date-time') {
    const min = new Date('2000-01-01')
    return fc
      .date({ min, max: new Date('2100-01-01'), noInvalidDate: true })
      .map((date) => date.toISOString())
  }
  if (pattern) return fc.stringMatching(new RegExp(pattern), { maxLength: 20 })
  return fc.string({
    unit: 'grapheme',
    minLength,
    maxLength: Math.max(minLength, Math.min(maxLength, 40)),
  })
}

const integer = ({ minimum = -100, maximum = 1_000 }: Schema) =>
  fc.oneof(fc.constantFrom(minimum, maximum), fc.integer({ min: minimum, max: maximum }))

const number = ({ minimum = -100, maximum = 1_000 }: Schema) =>
  fc.double({ min: minimum, max: maximum, noNaN: true })

/** Values that a schema allows; where a name is known, mostly what it stands for. */
export const fitting = (schema: Schema, named: Named = {}, name = ''): fc.Arbitrary<unknown> => {
  const { type, properties, required = [], items, anyOf, oneOf } = schema
  const union = anyOf ?? oneOf
  if (union) return fc.oneof(...union.map((option) => fitting(option, named, name)))
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (Array.isArray(type))
    return fc.oneof(...type.map((kind) => fitting({ ...schema, type: kind }, named, name)))
  switch (type) {
    case 'string': {
      const known = Object.hasOwn(named, name) ? named[name] : undefined
      const any = text(schema)
      return known ? fc.oneof({ weight: 4, arbitrary: known }, { weight: 1, arbitrary: any }) : any
    }
    case 'integer':
      return integer(schema)
    case 'number':
      return number(schema)
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(fitting(items ?? {}, named, name), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 3, 3),
      })
    case 'object': {
      if (!properties)
        return fc.dictionary(fc.string({ maxLength: 10 }), valuesOf(schema, named), { maxKeys: 3 })
      const fields = Object.entries(properties).map(([key, field]) => [
        key,
        fitting(field, named, key),
      ])
      return fc.record<Record<string, unknown>, string>(Object.fromEntries(fields), {
        requiredKeys: required,
      })
    }
    default:
      return fc.jsonValue({ maxDepth: 1 })
  }
}

const valuesOf = ({ additionalProperties }: Schema, named: Named) =>
  fitting(typeof additionalProperties === 'object' ? additionalProperties : {}, named)

type Place = [within: Record<string, unknown>, key: string]

function* placesIn(within: object): Generator<Place> {
  for (const [key, value] of Object.entries(within)) {
    yield [within as Record<string, unknown>, key]
    if (typeof value === 'object' && value !== null) yield* placesIn(value)
  }
}

const wrongs = ['replaced', 'removed', 'joined', 'wrapped'] as const

/** What fits, but for one thing, however deep: `misfits` come in its place, or join it. */
export const nearMiss = (
  good: fc.Arbitrary<unknown>,
  misfits: fc.Arbitrary<unknown> = hostile,
): fc.Arbitrary<unknown> =>
  fc
    .tuple(good, fc.nat(), fc.constantFrom(...wrongs), misfits, hostileText)
    .map(([value, at, wrong, put, name]) => {
      const root = { value: structuredClone(value) }
      const places = [...placesIn(root)]
      const [within, key] = places[at % places.length] as Place
      if (wrong === 'removed' && key !== 'value') delete within[key]
      else if (wrong === 'wrapped') within[key] = [within[key]]
      else if (wrong === 'joined')
        Object.defineProperty(within, name, {
          value: put,
          enumerable: true,
          configurable: true,
          writable: true,
        })
      else within[key] = put
      return root.value
    })
