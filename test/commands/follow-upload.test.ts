import t from 'tap'
import { followUpload as followUploadOver } from '../../commands/follow-upload.ts'
import type { Transact } from '../../src/event-sourcing/transactor.ts'
import { arrivedFile } from '../support/arrived-file.ts'
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
  const { uploads } = await uploadFiles({ datastoreId, files: [arrivedFile('a.txt')] }, by)
  return { by, upload: { uploadId: uploads[0]?.uploadId ?? '', datastoreId, filename: 'a.txt' } }
}

t.test('step by step, each stored once', async (t) => {
  const { by, upload } = await uploaded()
  const did = async (act: (call: typeof by) => Promise<unknown>) =>
    typesOf(await appendedOnce(t, act, by))
  const embedded = { model: 'm', dimensions: 2, vectorsBlob: 'v' }
  t.strictSame(await did((call) => followUpload.requeue(upload, call)), ['UploadRequeued'])
  t.strictSame(await did((call) => followUpload.start(upload, call)), ['UploadProcessingStarted'])
  const index = { chunks: 1, chunksBlob: 'c' }
  t.strictSame(await did((call) => followUpload.index(upload, index, call)), [
    'UploadIndexingStarted',
  ])
  t.strictSame(await did((call) => followUpload.complete(upload, call)), [
    'UploadCompleted',
    'UploadsFinished',
  ])
  t.strictSame(await did((call) => followUpload.embed(upload, embedded, call)), ['UploadEmbedded'])
  t.match(await followUpload.embed(upload, embedded, by), { wanted: true })
  const chunks = { reader: 2, chunks: 2, chunksBlob: 'd' }
  const replaced = { reader: 2, chunksBlob: 'd' }
  t.strictSame(await did((call) => followUpload.announceReread(upload, chunks, call)), [
    'UploadRereadingStarted',
  ])
  t.match(await followUpload.announceReread(upload, chunks, by), { wanted: true })
  t.strictSame(await did((call) => followUpload.finishReread(upload, replaced, call)), [
    'UploadReread',
  ])
  await deleteFile(upload, by)
  t.match(await followUpload.embed(upload, embedded, by), { wanted: false })
  t.match(await followUpload.announceReread(upload, chunks, by), { wanted: false })
  t.strictSame(await did((call) => followUpload.erase(upload, call)), ['UploadErased'])
})

t.test('one that fails is finished too', async (t) => {
  const { by, upload } = await uploaded()
  const events = await appendedOnce(
    t,
    (call) => followUpload.fail(upload, { reason: 'unreadable' }, call),
    by,
  )
  t.match(events, [
    { type: 'UploadFailed', data: { reason: 'unreadable' } },
    { type: 'UploadsFinished', data: { uploadIds: [upload.uploadId] } },
  ])
})

/** Appends to no stream of a file. */
const withoutFiles: Transact = (stream, ...decision) =>
  stream.name.startsWith('file-')
    ? Promise.reject(new Error('the disk is full'))
    : transact(stream, ...decision)

t.test('a step that cannot be appended leaves the upload open in its DataStore', async (t) => {
  const { by, upload } = await uploaded()
  await followUpload.start(upload, by)
  await followUpload.index(upload, { chunks: 1, chunksBlob: 'c' }, by)
  const over = followUploadOver({ transact: withoutFiles })
  const events = await appended(async () => {
    const refused = { message: 'the disk is full' }
    await t.rejects(over.fail(upload, { reason: 'unreadable' }, by), refused)
    await t.rejects(over.complete(upload, by), refused)
  })
  t.strictSame(events, [], 'nothing is finished')
})

t.test('an upload that failed is queued again by a retry', async (t) => {
  const { by, upload } = await uploaded()
  await followUpload.start(upload, by)
  await followUpload.fail(upload, { reason: 'unreadable' }, by)
  const events = await appendedOnce(t, (call) => followUpload.retry(upload, call), by)
  t.strictSame(typesOf(events), ['UploadRequeued'])
})
