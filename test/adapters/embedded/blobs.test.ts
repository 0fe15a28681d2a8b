import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { embeddedBlobs } from '../../../src/adapters/embedded/blobs.ts'
import { StoreUnavailable } from '../../../src/ports/event-store.ts'
import { blobsContract } from '../../contracts/blobs.ts'

t.test('embedded blobs', async (t) => {
  blobsContract(t, async (t) => {
    const path = t.testdir()
    return { blobs: await embeddedBlobs(path), reopen: () => embeddedBlobs(path) }
  })
})

t.test('the next start removes a blob that a crash left half written', async (t) => {
  const path = t.testdir({ incoming: {} })
  await writeFile(join(path, 'incoming', 'half'), 'a document that never')
  await embeddedBlobs(path)
  t.strictSame(await readdir(join(path, 'incoming')), [])
})

t.test('a name that is no hash leads nowhere', async (t) => {
  const blobs = await embeddedBlobs(t.testdir())
  await t.rejects(blobs.get('../../etc/passwd'), TypeError)
})

t.test('a full disk refuses a blob and leaves no partial file', async (t) => {
  const path = t.testdir()
  let free = 40_000
  const blobs = await embeddedBlobs(path, (bytes) => {
    free -= bytes
    if (free < 0) throw new StoreUnavailable('full')
  })
  async function* parts() {
    for (let n = 0; n < 10; n++) yield Buffer.alloc(4_096)
  }
  await t.rejects(blobs.put(parts()), StoreUnavailable)
  t.strictSame(await readdir(join(path, 'incoming')), [])
  free = 100_000
  t.match(await blobs.put(parts()), { size: 40_960 })
})
