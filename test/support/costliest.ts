import { smallestValue } from '../../src/adapters/models/smallest-value.ts'
import type { Schema } from './json-arbitrary.ts'

/** Stands for the text of a value; no schema gives it by itself. */
const mark = '@here@'

/** A place in the bodies of a schema: the text of a body that fits, with the mark there. */
type Place = { body: string; name: string }

const deepest = 6

const object = (value: unknown): object =>
  typeof value === 'object' && value !== null ? value : {}

function* placesIn(
  schema: Schema,
  around: (value: unknown) => unknown,
  name: string,
  depth: number,
): Generator<Place> {
  yield { body: JSON.stringify(around(mark)), name }
  if (depth === deepest) return
  const { properties = {}, items, additionalProperties: more, anyOf = [], oneOf = [] } = schema
  for (const alternative of [...anyOf, ...oneOf])
    yield* placesIn(alternative, around, name, depth + 1)
  const base = object(smallestValue({ ...schema, anyOf: undefined, oneOf: undefined }))
  for (const [key, inner] of Object.entries(properties)) {
    const within = (value: unknown) => around({ ...base, [key]: value })
    yield* placesIn(inner, within, `${name}.${key}`, depth + 1)
  }
  if (items) yield* placesIn(items, (value) => around([value]), `${name}[]`, depth + 1)
  if (typeof more === 'object')
    yield* placesIn(more, (value) => around({ any: value }), `${name}.*`, depth + 1)
}

const repeated = (count: number, text: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => text(n)).join()

/** Texts of values that cost a validator more than they cost a client. */
const costly: Readonly<Record<string, string>> = {
  'a few zeros too many': `[${repeated(1_900, () => '0')}]`,
  zeros: `[${repeated(19_000, () => '0')}]`,
  'more zeros': `[${repeated(49_000, () => '0')}]`,
  'zeros without end': `[${repeated(1_000_000, () => '0')}]`,
  'empty objects': `[${repeated(9_000, () => '{}')}]`,
  'arrays of zeros': `[${repeated(900, () => '[0,0,0,0,0,0,0,0,0]')}]`,
  'some fields': `{${repeated(1_900, (n) => `"f${n}":0`)}}`,
  'many fields': `{${repeated(19_000, (n) => `"f${n}":0`)}}`,
  'fields without end': `{${repeated(600_000, (n) => `"f${n}":0`)}}`,
  'a long name': `{"${'x'.repeat(1_000_000)}":0}`,
  'deep arrays': `${'['.repeat(50)}0${']'.repeat(50)}`,
  'deep objects': `${'{"a":'.repeat(50)}0${'}'.repeat(50)}`,
  'deeper than any': `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`,
  escapes: `"${'\\u0000'.repeat(200_000)}"`,
  backslashes: `"${'\\\\'.repeat(500_000)}"`,
  percents: `"${'%'.repeat(1_000_000)}"`,
}

/** One body for each place of a schema and each costly value there. */
export function* costliestBodies(schema: Schema): Generator<{ name: string; body: string }> {
  for (const { body, name } of placesIn(schema, (value) => value, '', 0))
    for (const [kind, text] of Object.entries(costly))
      yield { name: `${kind} at ${name || 'the top'}`, body: body.replace(`"${mark}"`, () => text) }
}
