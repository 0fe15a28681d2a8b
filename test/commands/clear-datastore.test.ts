import t from 'tap'
import { KeyDestroyed } from '../../src/ports/keys.ts'
import { datastoreKey } from '../../src/security/vault.ts'
import { arrivedFile } from '../support/arrived-file.ts'
import { commanding, typesOf } from '../support/commanding.ts'

const {
  clearDatastore,
  createDatastore,
  deleteDatastore,
  removeDatastoreFile,
  uploadFiles,
  blobs,
  appended,
  appendedOnce,
  organization,
} = await commanding(t)

t.test('the files of a deleted DataStore are erased one by one, then the DataStore', async (t) => {
  const { by, organizationId } = await organization()
  const { datastoreId } = await createDatastore({ displayName: 'Terms', description: null }, by)
  const files = [arrivedFile('a.txt', 'one'), arrivedFile('a.txt', 'two'), arrivedFile('b.txt')]
  await uploadFiles({ datastoreId, files }, by)
  await deleteDatastore({ datastoreId, force: true }, by)
  const remove = (filename: string) =>
    appendedOnce(t, (call) => removeDatastoreFile({ datastoreId, filename }, call), by)
  const reason = { reason: 'datastore_deleted', completed: false }
  t.match(await remove('a.txt'), [
    { type: 'UploadRemoved', data: reason },
    { type: 'UploadRemoved', data: reason },
  ])
  t.strictSame(typesOf(await remove('b.txt')), ['UploadRemoved'])
  const stored = blobs.under(datastoreKey(organizationId, datastoreId))
  const name = await stored.nameOf(files[0]?.hash ?? '')
  t.ok(await stored.get(name), 'its key is still there')
  const cleared = await appendedOnce(t, (call) => clearDatastore({ datastoreId }, call), by)
  t.strictSame(typesOf(cleared), ['DataStoreCleared'])
  t.equal(await stored.get(name), undefined)
  await t.rejects(stored.nameOf(''), KeyDestroyed)
})

t.test('a DataStore that is not deleted stays, and keeps its key', async (t) => {
  const { by, organizationId } = await organization()
  const { datastoreId } = await createDatastore({ displayName: 'Terms', description: null }, by)
  await uploadFiles({ datastoreId, files: [arrivedFile('a.txt')] }, by)
  t.strictSame(await appended(() => clearDatastore({ datastoreId }, by)), [])
  const stored = blobs.under(datastoreKey(organizationId, datastoreId))
  t.ok(await stored.get(await stored.nameOf(arrivedFile('a.txt').hash)))
})
