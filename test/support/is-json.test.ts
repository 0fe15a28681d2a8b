import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { isJson } from '../../src/support/is-json.ts'

t.test('what is JSON is the same again after it was text', async () => {
  const member = fc.oneof(fc.jsonValue(), fc.constant(undefined), fc.double(), fc.date())
  const value = fc.dictionary(fc.string(), fc.oneof(member, fc.dictionary(fc.string(), member)))
  fc.assert(
    fc.property(
      value,
      (made) => !isJson(made) || isDeepStrictEqual(JSON.parse(JSON.stringify(made)), made),
    ),
  )
})

t.test('what text has in another way is not', async (t) => {
  const circle: Record<string, unknown> = {}
  circle.own = circle
  const values = [
    undefined,
    { gone: undefined },
    -0,
    [undefined],
    new Array(1),
    Number.NaN,
    Number.POSITIVE_INFINITY,
    new Date(0),
    { at: new Date(0) },
    { toJSON: () => 1 },
    Object.assign([1], { toJSON: () => 2 }),
    Object.create(null),
    new Map(),
    { big: 1n },
    { call: () => 1 },
    circle,
  ]
  for (const value of values) t.notOk(isJson(value))
  t.ok(isJson({ a: [{ b: 1, c: null }], d: 'e', f: false, g: 0.5 }))
})
