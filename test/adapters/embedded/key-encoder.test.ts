import fc from 'fast-check'
import type { Key } from 'lmdb'
import { compareKeys, toBufferKey } from 'ordered-binary'
import t from 'tap'
import { encoded, keyEncoder } from '../../../src/adapters/embedded/key-encoder.ts'

/** lmdb takes null too, its types do not say so. */
const nothing = fc.constant(null as unknown as Key)
const part: fc.Arbitrary<Key> = fc.oneof(
  fc.string({ maxLength: 100 }),
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.string({ unit: fc.integer({ min: 0, max: 130 }).map((n) => String.fromCharCode(n)) }),
  fc.uuid(),
  fc.double({ noNaN: true }),
  fc.integer(),
  fc.nat(),
  fc.boolean(),
  nothing,
)
const key: fc.Arbitrary<Key> = fc.oneof(
  fc.string({ minLength: 1 }),
  fc.nat(),
  fc.array(part, { minLength: 1 }),
)

/** A key as bytes that stay. */
const bytesOf = (key: Key): Buffer => {
  const { bytes, length } = encoded(key)
  return Buffer.from(bytes.subarray(0, length))
}

t.test('keys are the bytes that ordered-binary writes', async (t) => {
  fc.assert(
    fc.property(key, (key) => {
      t.equal(Buffer.compare(bytesOf(key), toBufferKey(key)), 0)
    }),
    { numRuns: 2_000 },
  )
})

t.test('lmdb is given them where it wants them, with zeros behind', async (t) => {
  fc.assert(
    fc.property(key, fc.nat(50), fc.boolean(), (key, at, before) => {
      if (before) encoded(key)
      const plain = Buffer.from(new ArrayBuffer(8_192)).fill(255)
      const words = Buffer.from(new ArrayBuffer(8_192)).fill(255)
      for (const target of [
        plain,
        Object.assign(words, { uint32: new Uint32Array(words.buffer) }),
      ]) {
        const end = keyEncoder.writeKey(key, target, at)
        t.equal(Buffer.compare(target.subarray(at, end), toBufferKey(key)), 0)
        t.equal(target.readUInt32LE(end), 0)
      }
    }),
  )
})

t.test('the bytes sort as their keys, and are read as them', async (t) => {
  const pair = fc.tuple(fc.uuid(), fc.nat(), fc.string({ unit: 'grapheme-ascii', minLength: 1 }))
  fc.assert(
    fc.property(pair, pair, (left, right) => {
      const bytes = bytesOf(left)
      t.strictSame(keyEncoder.readKey(bytes, 0, bytes.length), left)
      const order = Math.sign(compareKeys(left, right))
      t.equal(Math.sign(Buffer.compare(bytes, bytesOf(right))), order)
    }),
  )
})
