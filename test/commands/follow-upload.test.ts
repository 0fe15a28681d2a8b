import t from 'tap'
import { followUpload as followUploadOver } from '../../commands/follow-upload.ts'
import type { Transact } from '../../src/event-sourcing/transactor.ts'
import { arrived } from '../support/arrived.ts'
import { commanding, typesOf } from '../support/commanding.ts'

const {
  createDatastore,
  deleteFile,
  followUpload,
  uploadFiles,
  appended,
  appendedOnce,
  organization,
  transact,
} = await commanding(t)

const uploaded = async () => {
  const { by } = await organization()
  const { datastoreId } = await createDatastore({ displayName: 'Terms', description: null }, by)
  const { uploads } = await uploadFiles({ datastoreId, files: [arrived('a.txt')] }, by)
  return { by, one: { uploadId: uploads[0]?.uploadId ?? '', datastoreId, filename: 'a.txt' } }
}

t.test('step by step, each stored once', async (t) => {
  const { by, one } = await uploaded()
  const did = async (act: (call: typeof by) => Promise<unknown>) =>
    typesOf(await appendedOnce(t, act, by))
  const embedded = { model: 'm', dimensions: 2, vectorsBlob: 'v' }
  t.strictSame(await did((call) => followUpload.requeue(one, call)), ['UploadRequeued'])
  t.strictSame(await did((call) => followUpload.start(one, call)), ['UploadProcessingStarted'])
  const made = { chunks: 1, chunksBlob: 'c' }
  t.strictSame(await did((call) => followUpload.index(one, made, call)), ['UploadIndexingStarted'])
  t.strictSame(await did((call) => followUpload.complete(one, call)), [
    'UploadCompleted',
    'UploadsFinished',
  ])
  t.strictSame(await did((call) => followUpload.embed(one, embedded, call)), ['UploadEmbedded'])
  t.match(await followUpload.embed(one, embedded, by), { wanted: true })
  const found = { reader: 2, chunks: 2, chunksBlob: 'd' }
  const replaced = { reader: 2, chunksBlob: 'd' }
  t.strictSame(await did((call) => followUpload.reread(one, found, call)), [
    'UploadRereadingStarted',
  ])
  t.match(await followUpload.reread(one, found, by), { wanted: true })
  t.strictSame(await did((call) => followUpload.replaceChunks(one, replaced, call)), [
    'UploadReread',
  ])
  await deleteFile(one, by)
  t.match(await followUpload.embed(one, embedded, by), { wanted: false })
  t.match(await followUpload.reread(one, found, by), { wanted: false })
  t.strictSame(await did((call) => followUpload.erase(one, call)), ['UploadErased'])
})

t.test('one that fails is finished too', async (t) => {
  const { by, one } = await uploaded()
  const events = await appendedOnce(
    t,
    (call) => followUpload.fail(one, { reason: 'unreadable' }, call),
    by,
  )
  t.match(events, [
    { type: 'UploadFailed', data: { reason: 'unreadable' } },
    { type: 'UploadsFinished', data: { uploadIds: [one.uploadId] } },
  ])
})

/** Appends to no stream of a file. */
const withoutFiles: Transact = (stream, ...decision) =>
  stream.name.startsWith('file-')
    ? Promise.reject(new Error('the disk is full'))
    : transact(stream, ...decision)

t.test('a step that cannot be appended leaves the upload open in its DataStore', async (t) => {
  const { by, one } = await uploaded()
  await followUpload.start(one, by)
  await followUpload.index(one, { chunks: 1, chunksBlob: 'c' }, by)
  const over = followUploadOver({ transact: withoutFiles })
  const events = await appended(async () => {
    const refused = { message: 'the disk is full' }
    await t.rejects(over.fail(one, { reason: 'unreadable' }, by), refused)
    await t.rejects(over.complete(one, by), refused)
  })
  t.strictSame(events, [], 'nothing is finished')
})

t.test('an upload that failed is queued again by a retry', async (t) => {
  const { by, one } = await uploaded()
  await followUpload.start(one, by)
  await followUpload.fail(one, { reason: 'unreadable' }, by)
  const events = await appendedOnce(t, (call) => followUpload.retry(one, call), by)
  t.strictSame(typesOf(events), ['UploadRequeued'])
})
