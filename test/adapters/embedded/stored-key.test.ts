import fc from 'fast-check'
import type { Key } from 'lmdb'
import { toBufferKey } from 'ordered-binary'
import t from 'tap'
import { UnreadableKey } from '../../../src/adapters/embedded/lmdb-errors.ts'
import { lastPartsOf, readStored } from '../../../src/adapters/embedded/stored-key.ts'

/** lmdb takes null too, its types do not say so. */
const nothing = fc.constant(null as unknown as Key)
const any = fc.string({ unit: fc.integer({ min: 0, max: 130 }).map((n) => String.fromCharCode(n)) })
const part = fc.oneof(any, fc.uuid(), fc.double({ noNaN: true }), fc.nat(), fc.boolean(), nothing)
const id = fc.oneof(any, fc.uuid(), fc.string({ unit: 'binary', maxLength: 80 }))

t.test('the last part of a key is read as the whole key has it', async (t) => {
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), id, (parts, id) => {
      const bytes = toBufferKey([...parts, id] as Key)
      const key = readStored(bytes, 0, bytes.length) as Key[]
      function* read() {
        yield readStored(bytes, 0, bytes.length)
      }
      t.strictSame([...lastPartsOf(read())], [String(key.at(-1))])
      t.strictSame(readStored(bytes, 0, bytes.length), key, 'then keys are whole again')
    }),
    { numRuns: 5_000 },
  )
})

t.test('bytes that are no key are named so, whatever they are', (t) => {
  const positionKeys = [62, 1_000_000, 2 ** 40].map((position) => toBufferKey(position))
  const streams = toBufferKey(['018f3f5e-chat_session-018f', 7] as Key)
  let refused = 0
  for (const bytes of [...positionKeys, streams])
    for (let at = 0; at < bytes.length; at++)
      for (let byte = 0; byte < 256; byte++) {
        const damaged = Buffer.concat([bytes, Buffer.alloc(8, 0x31)])
        damaged[at] = byte
        for (const end of [at, bytes.length, damaged.length])
          try {
            readStored(damaged, 0, end)
          } catch (error) {
            refused++
            if (!(error instanceof UnreadableKey)) throw error
          }
      }
  t.ok(refused > 0)
  t.end()
})
