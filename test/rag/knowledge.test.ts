import { createHash } from 'node:crypto'
import t, { type Test } from 'tap'
import type { ArrivedFile } from '../../commands/upload-files.ts'
import { findUploads } from '../../queries/find-uploads.ts'
import { StoreUnavailable } from '../../src/ports/event-store.ts'
import { documentReader } from '../../src/rag/document-reader.ts'
import { knowledgeIn } from '../../src/rag/knowledge.ts'
import { commanded } from '../support/commanded.ts'
import { call } from '../support/recorded.ts'

async function* once(bytes: Uint8Array) {
  yield bytes
}

const fileOf = (filename: string, text: string): ArrivedFile => {
  const bytes = Buffer.from(text)
  const hash = createHash('sha256').update(bytes).digest('hex')
  return { filename, fileType: 'text/plain', size: bytes.length, hash, bytes: () => once(bytes) }
}

/** DataStores whose files are indexed step by step, as the reactor does. */
const shelved = async (t: Test) => {
  const all = await commanded(t)
  const reader = documentReader()
  const { datastores, uploads } = all.read
  const store = async (datastoreId: string, filename: string, text: string) => {
    const files = [fileOf(filename, text)]
    const { uploads: taken } = await all.uploadFiles({ datastoreId, files }, call)
    const one = { uploadId: taken[0]?.uploadId ?? '', datastoreId, filename }
    const bytes = new TextEncoder().encode(text)
    const read = await reader.read({ bytes, fileType: 'text/plain', uploadId: one.uploadId })
    if ('failed' in read) throw new Error(read.failed)
    await all.followUpload.index(one, { chunks: read.count, chunksBlob: read.hash }, call)
    await all.blobs.put(once(read.lines))
    await all.followUpload.complete(one, call)
    await all.seen()
  }
  const create = async (displayName: string) => {
    const made = await all.createDatastore({ displayName, description: null }, call)
    return made.datastoreId
  }
  return { ...all, store, create, uses: { datastores, findUploads: findUploads(uploads) } }
}

t.test('an index follows its DataStore, kept or not', async (t) => {
  const { blobs, uses, store, create, deleteFile, seen } = await shelved(t)
  const id = await create('Animals')
  await store(id, 'zebra.txt', 'The zebra sleeps.')
  const kept = knowledgeIn({ ...uses, blobs })
  const never = knowledgeIn({ ...uses, blobs, keep: 1 })
  for (const knowledge of [kept, never]) {
    const ask = async (query: string) =>
      (await knowledge.search('org-1', [id], query, 5)).map(({ filename }) => filename)
    t.strictSame(await ask('zebra'), ['zebra.txt'])
    await store(id, 'lion.txt', 'The lion sleeps.')
    t.strictSame(await ask('lion'), ['lion.txt'])
    t.equal((await Promise.all([ask('sleeps'), ask('sleeps')])).flat().length, 4)
    await deleteFile({ datastoreId: id, filename: 'lion.txt' }, call)
    await seen()
    t.strictSame(await ask('lion'), [])
    t.strictSame(await ask('zebra'), ['zebra.txt'])
  }
  t.strictSame(await kept.search('org-2', [id], 'zebra', 5), [])
  t.strictSame(await kept.search('org-1', ['d-unknown'], 'zebra', 5), [])
})

t.test('an index whose building failed is built again', async (t) => {
  const { blobs, uses, store, create } = await shelved(t)
  const id = await create('Animals')
  await store(id, 'zebra.txt', 'The zebra sleeps.')
  let failing = false
  const knowledge = knowledgeIn({
    ...uses,
    blobs: {
      ...blobs,
      get: async (...asked) => {
        if (failing) throw new StoreUnavailable('not now')
        return blobs.get(...asked)
      },
    },
  })
  t.equal((await knowledge.search('org-1', [id], 'zebra', 5)).length, 1)
  await store(id, 'lion.txt', 'The lion sleeps.')
  failing = true
  await t.rejects(knowledge.search('org-1', [id], 'lion', 5), StoreUnavailable)
  failing = false
  t.equal((await knowledge.search('org-1', [id], 'lion', 5)).length, 1)
})
