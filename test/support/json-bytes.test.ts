import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { writeJson } from '../../src/support/json-bytes.ts'
import { utf8Of } from '../../src/support/utf8.ts'

const written = (value: unknown) => {
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
      fc.property(value, (made) => {
        const { text, same } = written(made)
        return text === JSON.stringify(made) && isDeepStrictEqual(JSON.parse(text), made) === same
      }),
    )
  },
)

t.test('what text has in another way is told', async (t) => {
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
    const { same, text } = written(value)
    t.equal(text, JSON.stringify(value) ?? 'null')
    t.notOk(same, text)
  }
  const plain = { a: [{ b: 1, c: null }], d: 'e', f: false, g: 0.5 }
  t.match(written(plain), { same: true, text: JSON.stringify(plain) })
})

t.test('what JSON does not have is refused as JSON.stringify refuses it', async (t) => {
  const circle: Record<string, unknown> = {}
  circle.own = circle
  t.throws(() => written(circle), TypeError)
  t.throws(() => written({ big: 1n }), TypeError)
})

t.test('what was written stays as it is, however much follows', async (t) => {
  const values = Array.from({ length: 100 }, (_, n) => ({ n, text: '“a”\n'.repeat(n * n) }))
  const all = values.map((value) => {
    written({ value, gone: undefined })
    return written(value).bytes
  })
  for (const [n, bytes] of all.entries())
    t.equal(bytes.toString(), `“${JSON.stringify(values[n])}\n`)
})

t.test('a text keeps about as much memory as it has bytes', async (t) => {
  for (const length of [10, 50_000, 70_000, 1_000_000]) {
    const texts = { one: 'a'.repeat(length) }
    const many = Array.from({ length: length / 10 }, () => 'abcdefg')
    for (const value of [texts, many]) {
      const { bytes } = written(value)
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
  t.throws(() => written(failing), new Error('no such field'))
  const { text, bytes } = written('small')
  t.equal(text, '"small"')
  t.ok(bytes.buffer.byteLength <= 65_536)
})
