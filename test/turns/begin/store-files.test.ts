import { createHash } from 'node:crypto'
import t from 'tap'
import type { ArrivedPart } from '../../../src/turns/begin/receive-parts.ts'
import { storedFiles } from '../../../src/turns/begin/store-files.ts'
import { commanded } from '../../support/commanded.ts'
import { png } from '../../support/media.ts'

async function* once(bytes: Uint8Array) {
  yield bytes
}

async function* broken(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('half')
  throw new Error('the disk is gone')
}

const part = (bytes: Buffer, read = () => once(bytes)): ArrivedPart => ({
  kind: 'image',
  mediaType: 'image/png',
  bytes: bytes.length,
  at: 0,
  hash: createHash('sha256').update(bytes).digest('hex'),
  read,
})

t.test(
  'the files of a refused message are removed, but for those that were there before',
  async (t) => {
    const { blobs } = await commanded(t)
    const files = blobs.under('session:org-1/s-1')
    const [known, fresh] = [part(png(1, 1)), part(png(2, 2))]
    const isThere = async ({ hash }: ArrivedPart) =>
      (await files.size(await files.nameOf(hash))) !== undefined
    await storedFiles([known], files).put()

    const again = storedFiles([known, fresh, fresh], files)
    await again.put()
    t.strictSame([await isThere(known), await isThere(fresh)], [true, true])
    await again.remove()
    t.strictSame([await isThere(known), await isThere(fresh)], [true, false])

    const torn = part(png(3, 3), broken)
    await t.rejects(storedFiles([fresh, known, torn], files).put(), /the disk is gone/)
    t.strictSame(
      [await isThere(known), await isThere(fresh), await isThere(torn)],
      [true, false, false],
    )
  },
)
