import fc from 'fast-check'
import t from 'tap'
import { storedForm as storedFormOf } from '../../src/event-sourcing/stored-form.ts'

const storedForm = (value: unknown) => {
  const look = { bytes: 0, changes: false }
  return { value: storedFormOf(value, look), bytes: look.bytes }
}

const nested = (levels: number): unknown => (levels === 0 ? 'end' : { of: nested(levels - 1) })

t.test('JSON values are stored unchanged, within the reported number of bytes', async (t) => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6, stringUnit: 'grapheme' }), (value) => {
      const { value: stored, bytes } = storedForm(value)
      const text = JSON.stringify(value)
      return JSON.stringify(stored) === text && bytes >= Buffer.byteLength(text)
    }),
  )
  t.pass()
})

t.test('removes undefined fields and the sign of zero', async (t) => {
  const given = { gone: undefined, list: [{ gone: undefined, zero: -0 }] }
  const { value } = storedForm(given)
  t.strictSame(value, { list: [{ zero: 0 }] })
  t.ok(Object.is((value as typeof given).list[0]?.zero, 0))
  t.ok('gone' in given, 'what was decided is as it was')
})

t.test('keeps a field named __proto__', async (t) => {
  const value = JSON.parse('{"__proto__":{"a":1},"constructor":2}')
  t.equal(storedForm(value).value, value)
  const { value: changed } = storedForm({ value, gone: undefined })
  t.equal(JSON.stringify(changed), '{"value":{"__proto__":{"a":1},"constructor":2}}')
})

t.test('refuses values without a JSON form, naming their path', async (t) => {
  class Point {
    x = 1
  }
  const holed: unknown[] = [1, 2]
  delete holed[0]
  for (const [value, path] of [
    [Number.NaN, []],
    [undefined, []],
    [{ a: Number.POSITIVE_INFINITY }, ['a']],
    [{ a: [1, undefined] }, ['a', 1]],
    [{ a: holed }, ['a', 0]],
    [{ a: { b: 'half \ud800' } }, ['a', 'b']],
    [{ 'half \udc00': 1 }, ['half \udc00']],
    [{ a: 1n }, ['a']],
    [{ a: () => 1 }, ['a']],
    [{ a: Symbol('a') }, ['a']],
    [{ a: new Date(0) }, ['a']],
    [{ a: new Map() }, ['a']],
    [{ a: new Point() }, ['a']],
    [{ a: { toJSON: () => 1 } }, ['a', 'toJSON']],
  ] as const)
    t.throws(() => storedForm(value), { name: 'NotStorable', path }, JSON.stringify(path))
  t.throws(() => storedForm(nested(51)), { name: 'NotStorable' })
  t.doesNotThrow(() => storedForm(nested(50)))
})

t.test('refuses a cyclic value', async (t) => {
  const value: Record<string, unknown> = {}
  value.self = value
  t.throws(() => storedForm(value), { name: 'NotStorable' })
})

t.test('a field of an array is gone, as JSON has no form for it', async (t) => {
  const list = Object.assign([1, 2], { three: 3 })
  t.strictSame(storedForm({ list }).value, { list: [1, 2] })
  t.strictSame(Object.keys((storedForm({ list }).value as { list: number[] }).list), ['0', '1'])
})
