import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { writeJson } from '../../src/support/json-bytes.ts'
import { utf8Of } from '../../src/support/utf8.ts'

const serialize = (value: unknown) => {
  let same = false
  const bytes = utf8Of((to) => {
    to.write('“')
    same = writeJson(value, to)
    to.write('\n')
  })
  return { same, text: bytes.toString().slice(1, -1), bytes }
}

t.test(
  'a value is written as JSON.stringify writes it, and known to be the same again',
  async () => {
    const string = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.string({ minLength: 60 }),
    )
    const member = fc.oneof(fc.jsonValue(), string, fc.constant(undefined), fc.double(), fc.date())
    const value = fc.dictionary(
      string,
      fc.oneof(member, fc.array(member), fc.dictionary(string, member)),
    )
    fc.assert(
      fc.property(value, (sample) => {
        const { text, same } = serialize(sample)
        return (
          text === JSON.stringify(sample) && isDeepStrictEqual(JSON.parse(text), sample) === same
        )
      }),
    )
  },
)

t.test('reports a value that its text does not restore', async (t) => {
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
    { call: () => 1 },
  ]
  for (const value of values) {
    const { same, text } = serialize(value)
    t.equal(text, JSON.stringify(value) ?? 'null')
    t.notOk(same, text)
  }
  const plain = { a: [{ b: 1, c: null }], d: 'e', f: false, g: 0.5 }
  t.match(serialize(plain), { same: true, text: JSON.stringify(plain) })
})

t.test('refuses the values that JSON.stringify refuses', async (t) => {
  const circle: Record<string, unknown> = {}
  circle.own = circle
  t.throws(() => serialize(circle), TypeError)
  t.throws(() => serialize({ big: 1n }), TypeError)
})

t.test('later writes do not change earlier bytes', async (t) => {
  const values = Array.from({ length: 100 }, (_, n) => ({ n, text: '“a”\n'.repeat(n * n) }))
  const all = values.map((value) => {
    serialize({ value, gone: undefined })
    return serialize(value).bytes
  })
  for (const [n, bytes] of all.entries())
    t.equal(bytes.toString(), `“${JSON.stringify(values[n])}\n`)
})

t.test('a text keeps about as much memory as it has bytes', async (t) => {
  for (const length of [10, 50_000, 70_000, 1_000_000]) {
    const texts = { one: 'a'.repeat(length) }
    const many = Array.from({ length: length / 10 }, () => 'abcdefg')
    for (const value of [texts, many]) {
      const { bytes } = serialize(value)
      t.ok(bytes.buffer.byteLength <= Math.max(65_536, bytes.length))
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
  t.throws(() => serialize(failing), new Error('no such field'))
  const { text, bytes } = serialize('small')
  t.equal(text, '"small"')
  t.ok(bytes.buffer.byteLength <= 65_536)
})
