import t from 'tap'
import { arrivedFile } from '../support/arrived-file.ts'
import { commanding, typesOf } from '../support/commanding.ts'

const { createDatastore, deleteFile, uploadFiles, appendedOnce, organization } = await commanding(t)

t.test('every upload of a file', async (t) => {
  const { by } = await organization()
  const { datastoreId } = await createDatastore({ displayName: 'Terms', description: null }, by)
  const files = [arrivedFile('a.txt', 'one'), arrivedFile('a.txt', 'two'), arrivedFile('b.txt')]
  const { uploads } = await uploadFiles({ datastoreId, files }, by)
  const command = { datastoreId, filename: 'a.txt' }
  const events = await appendedOnce(t, (call) => deleteFile(command, call), by)
  t.strictSame(typesOf(events), ['UploadRemoved', 'UploadRemoved', 'UploadsFinished'])
  const removed = uploads.slice(0, 2).map(({ uploadId }) => uploadId)
  t.match(events[0], { data: { uploadId: removed[0], reason: 'deleted', completed: false } })
  t.match(events[2], { data: { datastoreId, uploadIds: removed } })
})

t.test('refusals', async (t) => {
  const { by } = await organization()
  const { datastoreId } = await createDatastore({ displayName: 'Terms', description: null }, by)
  const filename = 'a.txt'
  await t.rejects(deleteFile({ datastoreId, filename }, by), { code: 'file_not_found' })
  await t.rejects(deleteFile({ datastoreId: 'none', filename }, by), {
    code: 'datastore_not_found',
  })
})
