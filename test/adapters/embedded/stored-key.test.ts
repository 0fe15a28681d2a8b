import type { Key } from 'lmdb'
import { toBufferKey } from 'ordered-binary'
import t from 'tap'
import { UnreadableKey } from '../../../src/adapters/embedded/lmdb-errors.ts'
import { readStored } from '../../../src/adapters/embedded/stored-key.ts'

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
