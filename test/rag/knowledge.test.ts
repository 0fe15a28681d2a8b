import { createHash } from 'node:crypto'
import t, { type Test } from 'tap'
import type { ArrivedFile } from '../../commands/upload-files.ts'
import { findUploads } from '../../queries/find-uploads.ts'
import { StoreUnavailable } from '../../src/ports/event-store.ts'
import { documentReader } from '../../src/rag/document-reader.ts'
import { knowledgeIn } from '../../src/rag/knowledge.ts'
import { datastoreKey } from '../../src/security/vault.ts'
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

/** DataStores whose files are indexed step by step, as the worker does. */
const shelved = async (t: Test) => {
  const all = await commanded(t)
  const reader = documentReader()
  const { datastores, uploads } = all.read
  const store = async (datastoreId: string, filename: string, text: string) => {
    const files = [fileOf(filename, text)]
    const { uploads } = await all.uploadFiles({ datastoreId, files }, call)
    const upload = { uploadId: uploads[0]?.uploadId ?? '', datastoreId, filename }
    const bytes = [new TextEncoder().encode(text)]
    const read = await reader.read({ bytes, fileType: 'text/plain', uploadId: upload.uploadId })
    if ('failed' in read) throw new Error(read.failed)
    const stored = all.blobs.under(datastoreKey(call.organizationId, datastoreId))
    const { name: chunksBlob } = await stored.put(once(Buffer.concat(read.lines)))
    await all.followUpload.index(upload, { chunks: read.count, chunksBlob }, call)
    await all.followUpload.complete(upload, call)
    await all.seen()
  }
  const create = async (displayName: string) => {
    const datastore = await all.createDatastore({ displayName, description: null }, call)
    return datastore.datastoreId
  }
  return { ...all, store, create, uses: { datastores, findUploads: findUploads({ uploads }) } }
}

t.test('an index follows its DataStore, kept or not', async (t) => {
  const { blobs, uses, store, create, deleteFile, seen } = await shelved(t)
  const id = await create('Animals')
  await store(id, 'zebra.txt', 'The zebra sleeps.')
  const other = await create('Others')
  await store(other, 'crane.txt', 'The crane sleeps.')
  const caching = knowledgeIn({ ...uses, blobs })
  const uncached = knowledgeIn({ ...uses, blobs, limits: { keep: 1 } })
  t.teardown(() => Promise.all([caching.close(), uncached.close()]))
  for (const knowledge of [caching, uncached]) {
    const ask = async (query: string) => {
      const crane = await knowledge.search('org-1', [other], 'crane', 5)
      t.equal(crane.length, 1, 'another index takes the room')
      return (await knowledge.search('org-1', [id], query, 5)).map(({ filename }) => filename)
    }
    t.strictSame(await ask('zebra'), ['zebra.txt'])
    await store(id, 'lion.txt', 'The lion sleeps.')
    t.strictSame(await ask('lion'), ['lion.txt'])
    t.equal((await Promise.all([ask('sleeps'), ask('sleeps')])).flat().length, 4)
    await deleteFile({ datastoreId: id, filename: 'lion.txt' }, call)
    await seen()
    t.strictSame(await ask('lion'), [])
    t.strictSame(await ask('zebra'), ['zebra.txt'])
  }
  t.strictSame(await caching.search('org-2', [id], 'zebra', 5), [])
  t.strictSame(await caching.search('org-1', ['d-unknown'], 'zebra', 5), [])
})

t.test('an index whose building failed is built again', async (t) => {
  const { blobs, uses, store, create } = await shelved(t)
  const id = await create('Animals')
  await store(id, 'zebra.txt', 'The zebra sleeps.')
  let failing = false
  const knowledge = knowledgeIn({
    ...uses,
    blobs: {
      under: (key) => ({
        ...blobs.under(key),
        get: async (...args) => {
          if (failing) throw new StoreUnavailable('not now')
          return blobs.under(key).get(...args)
        },
      }),
    },
  })
  t.teardown(knowledge.close)
  t.equal((await knowledge.search('org-1', [id], 'zebra', 5)).length, 1)
  await store(id, 'lion.txt', 'The lion sleeps.')
  failing = true
  await t.rejects(knowledge.search('org-1', [id], 'lion', 5), StoreUnavailable)
  failing = false
  t.equal((await knowledge.search('org-1', [id], 'lion', 5)).length, 1)
})

t.test('an index takes no more than it may, and other DataStores are searched', async (t) => {
  const { blobs, uses, store, create } = await shelved(t)
  const [large, small] = [await create('Large'), await create('Small')]
  const words = Array.from({ length: 20_000 }, (_, n) => `word${n}`).join(' ')
  await store(large, 'first.txt', `The zebra sleeps. ${words}`)
  await store(large, 'second.txt', 'The lion sleeps.')
  await store(small, 'third.txt', 'The heron sleeps.')
  const warnings: object[] = []
  const knowledge = knowledgeIn({
    ...uses,
    blobs,
    limits: { largest: 500_000 },
    log: { warn: (fields) => warnings.push(fields) },
  })
  t.teardown(knowledge.close)
  const ask = async (id: string, query: string) =>
    (await knowledge.search('org-1', [id], query, 5)).length
  t.equal(await ask(large, 'zebra'), 1)
  t.equal(await ask(large, 'lion'), 0, 'it was full before')
  t.equal(await ask(small, 'heron'), 1)
  t.match(warnings, [{ datastore_id: large }])
})

t.test('searching and building leave this thread to others', async (t) => {
  const { blobs, uses, store, create } = await shelved(t)
  const id = await create('Large')
  for (let n = 0; n < 3; n++)
    await store(id, `${n}.txt`, `The zebra sleeps, and file ${n} tells of it. `.repeat(60_000))
  const knowledge = knowledgeIn({ ...uses, blobs })
  t.teardown(knowledge.close)
  let turns = 0
  const counting = setInterval(() => turns++, 5)
  const query = Array.from({ length: 280 }, (_, n) => `zebra sleeps tells file${n}`).join(' ')
  const results = await Promise.all(
    Array.from({ length: 6 }, () => knowledge.search('org-1', [id], query, 10)),
  )
  clearInterval(counting)
  t.ok(results.every(({ length }) => length === 10))
  t.ok(turns > 5, `${turns} turns`)
})
