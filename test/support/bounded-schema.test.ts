import t, { type Test } from 'tap'
import { z } from 'zod'
import { entries, list, mostErrors, within } from '../../src/support/bounded-schema.ts'
import { freeJson, jsonFault } from '../../src/support/json-bounds.ts'

/** A schema, and how many values it has been applied to. */
const counting = <Schema extends z.ZodType>(schema: Schema) => {
  let count = 0
  const counted = z.preprocess((value) => {
    count++
    return value
  }, schema)
  return { schema: counted, count: () => count }
}

const zeros = (count: number): number[] => Array(count).fill(0)
const texts = (count: number): string[] => Array(count).fill('a')
const fields = (count: number, value: unknown) =>
  Object.fromEntries(zeros(count).map((_, n) => [`f${n}`, value]))
const same = (t: Test, bounded: z.ZodType, other: z.ZodType, value: unknown) => {
  const [{ data, error }, expected] = [bounded.safeParse(value), other.safeParse(value)]
  t.strictSame(data, expected.data)
  t.strictSame(error?.issues, expected.error?.issues, JSON.stringify(value)?.slice(0, 40))
}

t.test(
  'a list and entries are arrays and records as zod has them, up to five errors',
  async (t) => {
    const item = z.object({ a: z.string() })
    for (const value of [null, {}, [], [{ a: 'b' }], [{ a: 'b', c: 1 }, {}], [0, 1], fields(2, 0)])
      same(t, list(item).max(3), z.array(item).max(3), value)
    same(t, list(item).max(3), z.array(item).max(3), texts(4))
    same(t, list(item).min(1), z.array(item).min(1), [])
    const key = z.string().max(2)
    for (const value of [null, [], {}, { a: 'b' }, { a: 1, b: 2 }, { abc: 'd', e: 'f' }, 7])
      same(t, entries(key, z.string()), z.record(key, z.string()), value)
    const own = JSON.parse('{"__proto__":"a","b":"c"}')
    same(t, entries(z.string(), z.string()), z.record(z.string(), z.string()), own)
  },
)

t.test('validation of a long list or of many entries ends after five errors', async (t) => {
  const inList = counting(z.string())
  t.equal(list(inList.schema).safeParse(zeros(50_000)).error?.issues.length, mostErrors)
  t.equal(inList.count(), mostErrors)
  const capped = counting(z.string())
  t.notOk(list(capped.schema).max(9).safeParse(zeros(50_000)).success)
  t.equal(capped.count(), 0)
  const inEntries = counting(z.string())
  const wide = entries(z.string(), inEntries.schema).safeParse(fields(1_000, 0))
  t.equal(wide.error?.issues.length, mostErrors)
  t.equal(inEntries.count(), mostErrors)
  t.ok(list(z.string()).safeParse(texts(50_000)).success)
})

t.test('a value beyond its bounds is refused before validation', async (t) => {
  const inner = counting(z.unknown())
  const schema = within({ nodes: 10, depth: 2 }, inner.schema)
  for (const value of [zeros(10), [[[0]]], fields(10, 0), Array(2).fill(zeros(4))])
    t.match(schema.safeParse(value).error?.issues, [
      { code: 'custom', params: { code: 'too_complex' }, message: /^more than/ },
    ])
  t.equal(inner.count(), 0)
  t.ok(schema.safeParse(zeros(9)).success)
})

t.test('an absent bound is not checked', async (t) => {
  const wide = zeros(100_000)
  t.equal(jsonFault(wide, { depth: 1 }), undefined)
  t.equal(jsonFault([wide], { depth: 1 }), 'more than 1 levels deep')
  t.equal(jsonFault(wide, { nodes: 100_000 }), 'more than 100000 values')
  t.equal(jsonFault(wide, { nodes: 100_001 }), undefined)
  t.equal(jsonFault('x'.repeat(100_000)), `more than ${freeJson.bytes} bytes of JSON`)
})
