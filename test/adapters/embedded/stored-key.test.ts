import fc from 'fast-check'
import type { Key } from 'lmdb'
import { toBufferKey } from 'ordered-binary'
import t from 'tap'
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
      const whole = readStored(bytes, 0, bytes.length) as Key[]
      function* read() {
        yield readStored(bytes, 0, bytes.length)
      }
      t.strictSame([...lastPartsOf(read())], [String(whole.at(-1))])
      t.strictSame(readStored(bytes, 0, bytes.length), whole, 'then keys are whole again')
    }),
    { numRuns: 5_000 },
  )
})
