import t from 'tap'
import { arrived } from '../support/arrived.ts'
import { commanding, typesOf } from '../support/commanding.ts'

const {
  createDatastore,
  deleteDatastore,
  uploadFiles,
  blobs,
  appended,
  appendedOnce,
  organization,
} = await commanding(t)

t.test('the DataStore is in use, the files are received, and their bytes stored', async (t) => {
  const { by, organizationId } = await organization()
  const { datastoreId } = await createDatastore({ displayName: 'Terms', description: null }, by)
  const files = [arrived('a.txt'), arrived('b.txt')]
  const asked = { datastoreId, files }
  const events = await appendedOnce(t, (call) => uploadFiles(asked, call), by)
  t.strictSame(typesOf(events), ['UploadsBegun', 'UploadReceived', 'UploadReceived'])
  const [begun, first] = events
  t.match(begun, {
    data: { datastoreId, uploads: [{ filename: 'a.txt' }, { filename: 'b.txt' }] },
    stream: `datastores-${organizationId}_${organizationId}`,
  })
  t.match(first, { data: { filename: 'a.txt', fileSize: 5, blob: files[0]?.hash } })
  for (const { hash } of files) t.ok(await blobs.get(hash))
})

t.test('nothing goes into a DataStore that there is not', async (t) => {
  const { by } = await organization()
  const { datastoreId } = await createDatastore({ displayName: 'Terms', description: null }, by)
  await deleteDatastore({ datastoreId, force: false }, by)
  const events = await appended(async () => {
    for (const id of [datastoreId, 'none'])
      await t.rejects(uploadFiles({ datastoreId: id, files: [arrived('a.txt')] }, by), {
        code: 'datastore_not_found',
      })
  })
  t.strictSame(events, [])
})
