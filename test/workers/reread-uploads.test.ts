import { createHash } from 'node:crypto'
import t, { type Test } from 'tap'
import { findUploads } from '../../queries/find-uploads.ts'
import type { FileType } from '../../src/domain/file/types.ts'
import { type Log, silent } from '../../src/ports/log.ts'
import { chunkLine, headLine } from '../../src/rag/chunk-lines.ts'
import { documentReader } from '../../src/rag/document-reader.ts'
import { knowledgeIn } from '../../src/rag/knowledge.ts'
import { readerVersion } from '../../src/rag/reader-version.ts'
import { datastoreKey } from '../../src/security/vault.ts'
import { indexUploads } from '../../src/workers/index-uploads.ts'
import { rereadUploads } from '../../src/workers/reread-uploads.ts'
import { commanded } from '../support/commanded.ts'
import { damagedContent, pdfLines, pdfOfContents, pdfStream } from '../support/documents.ts'
import { eventually } from '../support/eventually.ts'
import { call } from '../support/recorded.ts'

async function* once(bytes: Uint8Array) {
  yield bytes
}

/** A DataStore whose files an earlier reader has read, which found other words in them. */
const outdated = async (t: Test) => {
  const all = await commanded(t)
  const { datastores, uploads } = all.read
  const { datastoreId } = await all.createDatastore({ displayName: 'Old', description: null }, call)
  const stored = all.blobs.under(datastoreKey(call.organizationId, datastoreId))
  const knowledge = knowledgeIn({
    datastores,
    findUploads: findUploads({ uploads }),
    blobs: all.blobs,
  })
  const reader = documentReader()
  t.teardown(() => Promise.all([knowledge.close(), reader.close()]))

  const upload = async (filename: string, text: string | Buffer, fileType: FileType) => {
    const bytes = Buffer.from(text as string)
    const hash = createHash('sha256').update(bytes).digest('hex')
    const file = { filename, fileType, size: bytes.length, hash, bytes: () => once(bytes) }
    const { uploads: created } = await all.uploadFiles({ datastoreId, files: [file] }, call)
    return { uploadId: created[0]?.uploadId ?? '', datastoreId, filename }
  }
  const shelve = async (
    filename: string,
    text: string | Buffer,
    words: string,
    fileType: FileType,
  ) => {
    const ref = await upload(filename, text, fileType)
    const lines = headLine(ref.uploadId) + chunkLine({ text: words, place: 'line 1', headings: [] })
    const { name: chunksBlob } = await stored.put(once(Buffer.from(lines)))
    await all.followUpload.index(ref, { chunks: 1, chunksBlob }, call)
    await all.followUpload.complete(ref, call)
    await all.seen()
    return ref
  }
  const fail = async (filename: string, text: string, fileType: FileType) => {
    const ref = await upload(filename, text, fileType)
    await all.followUpload.fail(ref, { reason: 'The file is not text' }, call)
    await all.seen()
    return ref
  }
  const worker = (followUpload = all.followUpload, log: Log = silent) => {
    const rereading = rereadUploads({
      uploads,
      blobs: all.blobs,
      reader,
      followUpload,
      waitForPosition: async () => all.seen(),
      onDone() {},
      findRequestId: async () => undefined,
      leases: all.leases,
      clock: all.clock,
      node: 'node-1',
      log,
    })
    t.teardown(() => rereading.stop())
    return rereading
  }
  const search = async (query: string) =>
    (await knowledge.search(call.organizationId, [datastoreId], query, 5)).map(({ text }) => text)
  const view = async (ref: { uploadId: string }) => uploads.get(ref.uploadId)
  const isRead = (ref: { uploadId: string }) =>
    eventually(async () => (await view(ref))?.reader === readerVersion)
  const indexer = () => {
    const indexing = indexUploads({
      ...all,
      ...all.read,
      findUploads: findUploads({ uploads }),
      reader: documentReader(),
      quotas: { isFull: async () => false },
      threads: 1,
      waitForPosition: async () => all.seen(),
      head: all.store.head,
      onDone() {},
      findRequestId: async () => undefined,
      node: 'node-1',
      log: silent,
    })
    t.teardown(indexing.stop)
    return indexing
  }
  return { ...all, shelve, fail, indexer, stored, worker, search, view, isRead }
}

t.test('a document is read again, and searched by its old words until then', async (t) => {
  const { shelve, stored, worker, search, view, isRead } = await outdated(t)
  const ref = await shelve('a.txt', 'The zebra sleeps.', 'The z ebra sleeps.', 'text/plain')
  t.strictSame(await search('ebra'), ['The z ebra sleeps.'])
  const before = (await view(ref))?.chunks_blob ?? ''
  await worker().sweep()
  t.ok(await isRead(ref))
  t.strictSame(await search('ebra'), [])
  t.strictSame(await search('zebra'), ['The zebra sleeps.'])
  t.match(await view(ref), { status: 'completed', shown: true, unembedded: true })
  t.ok(await eventually(async () => (await stored.size(before)) === undefined))
})

t.test('interrupted work is repeated, and the old words are searched meanwhile', async (t) => {
  const { shelve, worker, search, view, isRead, followUpload } = await outdated(t)
  const ref = await shelve('a.txt', 'The zebra sleeps.', 'The z ebra sleeps.', 'text/plain')
  const crashing = worker({
    ...followUpload,
    finishReread: () => Promise.reject(new Error('killed')),
  })
  await crashing.sweep()
  t.ok(await eventually(async () => (await view(ref))?.next_chunks_blob))
  await crashing.stop()
  t.strictSame(await search('ebra'), ['The z ebra sleeps.'])
  await worker().sweep()
  t.ok(await isRead(ref))
  t.strictSame(await search('zebra'), ['The zebra sleeps.'])
})

t.test('a document that can no longer be read keeps its chunks', async (t) => {
  const { shelve, worker, search, view, isRead } = await outdated(t)
  const ref = await shelve('a.json', '{"no', 'The zebra sleeps.', 'application/json')
  await worker().sweep()
  t.ok(await isRead(ref))
  t.strictSame(await search('zebra'), ['The zebra sleeps.'])
  t.match(await view(ref), { status: 'completed', next_chunks_blob: undefined })
})

t.test('a document that is read as before keeps its chunks and vectors', async (t) => {
  const { shelve, worker, search, view, isRead, followUpload, read, seen } = await outdated(t)
  const ref = await shelve('a.txt', 'The zebra sleeps.', 'The zebra sleeps.', 'text/plain')
  const vectors = { model: 'm', dimensions: 2, vectorsBlob: 'v' }
  await followUpload.embed(ref, vectors, call)
  await seen()
  const before = await view(ref)
  const version = (await read.datastores.get(ref.datastoreId))?.version
  await worker().sweep()
  t.ok(await isRead(ref))
  t.strictSame(await view(ref), { ...before, reader: readerVersion })
  t.equal((await read.datastores.get(ref.datastoreId))?.version, version)
  t.strictSame(await search('zebra'), ['The zebra sleeps.'])
})

t.test('pages that a later reader cannot read are named in the warnings', async (t) => {
  const { shelve, worker, view, isRead } = await outdated(t)
  const page = pdfStream(pdfLines('The zebra sleeps.'))
  const bytes = Buffer.from(pdfOfContents([page, damagedContent]))
  const ref = await shelve('a.pdf', bytes, 'The lion sleeps.', 'application/pdf')
  await worker().sweep()
  t.ok(await isRead(ref))
  t.match(await view(ref), { warnings: ['Cannot be read in full: page 2'] })
})

t.test('a file deleted in the middle of being read again leaves nothing behind', async (t) => {
  const all = await outdated(t)
  const { shelve, worker, view, followUpload, seen, deleteFile } = all
  const ref = await shelve('a.txt', 'The zebra sleeps.', 'The z ebra sleeps.', 'text/plain')
  const crashing = worker({
    ...followUpload,
    finishReread: () => Promise.reject(new Error('killed')),
  })
  await crashing.sweep()
  const { blob, chunks_blob, next_chunks_blob } =
    (await eventually(async () => ((await view(ref))?.next_chunks_blob ? view(ref) : null))) ?? {}
  await crashing.stop()
  await deleteFile(ref, call)
  await seen()
  await all.indexer().sweep()
  t.ok(await eventually(async () => (await view(ref)) === undefined))
  for (const name of [blob, chunks_blob, next_chunks_blob])
    t.equal(await all.stored.size(name ?? ''), undefined)
})

t.test('a document that an earlier reader could not read is indexed', async (t) => {
  const { fail, worker, indexer, search, view, isRead } = await outdated(t)
  const ref = await fail('a.txt', 'The zebra\0sleeps.\x07\x0b', 'text/plain')
  t.match(await view(ref), { status: 'failed', reader: 1 })
  await worker().sweep()
  t.ok(await eventually(async () => (await view(ref))?.status === 'pending'))
  t.match(await view(ref), { error_message: null, open: true })
  await indexer().sweep()
  t.ok(await isRead(ref))
  t.ok(await eventually(async () => (await view(ref))?.status === 'completed'))
  t.strictSame(await search('zebra'), ['The zebra sleeps.'])
})

t.test('a document that a later reader cannot read either fails once more', async (t) => {
  const { fail, worker, view, isRead, followUpload } = await outdated(t)
  const ref = await fail('a.json', '{"no', 'application/json')
  let fails = 0
  const counting: typeof followUpload = {
    ...followUpload,
    fail: (...given) => {
      fails++
      return followUpload.fail(...given)
    },
  }
  const rereading = worker(counting)
  await rereading.sweep()
  t.ok(await isRead(ref))
  const { status, error_message: message } = (await view(ref)) ?? {}
  t.equal(status, 'failed')
  t.not(message, 'The file is not text')
  await rereading.sweep()
  await rereading.stop()
  t.equal(fails, 1)
})

t.test('after an error an upload rests, and others are read again', async (t) => {
  const { shelve, worker, isRead, followUpload } = await outdated(t)
  const ref = await shelve('a.txt', 'The zebra sleeps.', 'The z ebra sleeps.', 'text/plain')
  let tries = 0
  let logged = 0
  const broken: typeof followUpload = {
    ...followUpload,
    announceReread: (upload, ...rest) => {
      if (upload.uploadId !== ref.uploadId) return followUpload.announceReread(upload, ...rest)
      tries++
      throw new Error('the stream is damaged')
    },
  }
  const rereading = worker(broken, { ...silent, error: () => logged++ })
  await rereading.sweep()
  t.ok(await eventually(async () => logged === 1))
  const other = await shelve('b.txt', 'A lion.', 'A l ion.', 'text/plain')
  await rereading.sweep()
  t.ok(await isRead(other))
  t.equal(tries, 1)
})
