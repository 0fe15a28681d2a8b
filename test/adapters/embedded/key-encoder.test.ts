import fc from 'fast-check'
import { compareKeys, toBufferKey } from 'ordered-binary'
import t from 'tap'
import { keyEncoder } from '../../../src/adapters/embedded/key-encoder.ts'

t.test('the bytes sort as their keys, and are read as them', async (t) => {
  const pair = fc.tuple(fc.uuid(), fc.nat(), fc.string({ unit: 'grapheme-ascii', minLength: 1 }))
  fc.assert(
    fc.property(pair, pair, (left, right) => {
      const bytes = toBufferKey(left)
      t.strictSame(keyEncoder.readKey(bytes, 0, bytes.length), left)
      const order = Math.sign(compareKeys(left, right))
      t.equal(Math.sign(Buffer.compare(bytes, toBufferKey(right))), order)
    }),
  )
})
