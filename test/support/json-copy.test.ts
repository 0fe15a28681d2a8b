import fc from 'fast-check'
import t from 'tap'
import { jsonCopy } from '../../src/support/json-copy.ts'

const throughText = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

t.test('a copy is what JSON makes of a value, in the same order', async () => {
  const member = fc.oneof(fc.jsonValue(), fc.constant(undefined), fc.double())
  const value = fc.dictionary(fc.string(), fc.oneof(member, fc.dictionary(fc.string(), member)))
  fc.assert(
    fc.property(value, (made) => {
      const copy = jsonCopy(made)
      return copy === undefined || JSON.stringify(copy) === JSON.stringify(throughText(made))
    }),
  )
})

t.test('a copy shares no object, and leaves out what is undefined', async (t) => {
  const made = { a: [{ b: 1 }], gone: undefined, zero: -0, none: null }
  const copy = jsonCopy(made)
  t.strictSame(copy, throughText(made))
  t.notOk(copy && 'gone' in copy)
  t.ok(Object.is(copy?.zero, 0))
  made.a[0] = { b: 2 }
  t.strictSame(copy?.a, [{ b: 1 }])
})

t.test('what is not plain is not copied', async (t) => {
  const circle: Record<string, unknown> = {}
  circle.own = circle
  const values = [
    new Date(0),
    { at: new Date(0) },
    [undefined],
    Number.NaN,
    { toJSON: () => 1 },
    Object.assign([1], { toJSON: () => 2 }),
    new Map(),
    { big: 1n },
    { call: () => 1 },
    JSON.parse('{"__proto__": 1}'),
    undefined,
    circle,
  ]
  for (const value of values) t.equal(jsonCopy(value), undefined)
})
