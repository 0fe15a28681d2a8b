import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { jsonBytes } from '../../src/support/json-bytes.ts'

const textOf = (value: unknown): string | undefined => jsonBytes(value)?.toString()

t.test('what is JSON is written as JSON.stringify writes it, and is the same again', async () => {
  const string = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.string({ minLength: 60 }))
  const member = fc.oneof(fc.jsonValue(), string, fc.constant(undefined), fc.double(), fc.date())
  const value = fc.dictionary(
    string,
    fc.oneof(member, fc.array(member), fc.dictionary(string, member)),
  )
  fc.assert(
    fc.property(value, (made) => {
      const bytes = jsonBytes(made)
      if (!bytes) return !isDeepStrictEqual(JSON.parse(JSON.stringify(made)), made)
      const text = bytes.toString()
      return text === JSON.stringify(made) && isDeepStrictEqual(JSON.parse(text), made)
    }),
  )
})

t.test('what text has in another way is not written', async (t) => {
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
  for (const value of values) t.equal(textOf(value), undefined)
  const plain = { a: [{ b: 1, c: null }], d: 'e', f: false, g: 0.5 }
  t.equal(textOf(plain), JSON.stringify(plain))
})

t.test('what was written stays as it is, between other bytes, however much follows', async (t) => {
  const around = { before: Buffer.from('“'), after: Buffer.from('\n') }
  const values = Array.from({ length: 100 }, (_, n) => ({ n, text: '“a”\n'.repeat(n * n) }))
  const written = values.map((value) => {
    jsonBytes({ value, gone: undefined }, around)
    return jsonBytes(value, around)
  })
  for (const [n, bytes] of written.entries())
    t.equal(bytes?.toString(), `“${JSON.stringify(values[n])}\n`)
})

t.test('a text keeps about as much memory as it has bytes', async (t) => {
  for (const length of [10, 50_000, 70_000, 1_000_000]) {
    const texts = { one: 'a'.repeat(length) }
    const many = Array.from({ length: length / 10 }, () => 'abcdefg')
    for (const value of [texts, many]) {
      const bytes = jsonBytes(value)
      t.ok(bytes && bytes.buffer.byteLength <= Math.max(65_536, bytes.length))
    }
  }
})

t.test('what could not be written leaves nothing behind', async (t) => {
  const failing = {
    large: 'a'.repeat(1_000_000),
    get field(): string {
      throw new Error('no such field')
    },
  }
  t.throws(() => jsonBytes(failing), new Error('no such field'))
  const small = jsonBytes('small')
  t.equal(small?.toString(), '"small"')
  t.ok(small && small.buffer.byteLength <= 65_536)
})
