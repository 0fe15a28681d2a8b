import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { embeddedBlobs } from '../../../src/adapters/embedded/blobs.ts'
import { blobsContract } from '../../contracts/blobs.ts'

t.test('embedded blobs', async (t) => {
  blobsContract(t, async (t) => {
    const path = t.testdir()
    return { blobs: await embeddedBlobs(path), reopen: () => embeddedBlobs(path) }
  })
})

t.test('what a crash left half written is gone after the next start', async (t) => {
  const path = t.testdir({ incoming: {} })
  await writeFile(join(path, 'incoming', 'half'), 'a document that never')
  await embeddedBlobs(path)
  t.strictSame(await readdir(join(path, 'incoming')), [])
})

t.test('a name that is no hash leads nowhere', async (t) => {
  const blobs = await embeddedBlobs(t.testdir())
  await t.rejects(blobs.get('../../etc/passwd'), TypeError)
})
