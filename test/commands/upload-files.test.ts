import t from 'tap'
import { uploadFiles as uploadFilesOver } from '../../commands/upload-files.ts'
import { KeyDestroyed } from '../../src/ports/keys.ts'
import { datastoreKey } from '../../src/security/vault.ts'
import { arrivedFile } from '../support/arrived-file.ts'
import { commanding, typesOf } from '../support/commanding.ts'

const {
  createDatastore,
  deleteDatastore,
  uploadFiles,
  blobs,
  appended,
  appendedOnce,
  organization,
  transact,
  clock,
} = await commanding(t)

t.test('the DataStore is in use, the files are received, and their bytes stored', async (t) => {
  const { by, organizationId } = await organization()
  const { datastoreId } = await createDatastore({ displayName: 'Terms', description: null }, by)
  const files = [arrivedFile('a.txt'), arrivedFile('b.txt')]
  const command = { datastoreId, files }
  const events = await appendedOnce(t, (call) => uploadFiles(command, call), by)
  t.strictSame(typesOf(events), ['UploadsBegun', 'UploadReceived', 'UploadReceived'])
  const [uploadsBegun, first] = events
  t.match(uploadsBegun, {
    data: { datastoreId, uploads: [{ filename: 'a.txt' }, { filename: 'b.txt' }] },
    stream: `datastores-${organizationId}_${organizationId}`,
  })
  const stored = blobs.under(datastoreKey(organizationId, datastoreId))
  const names = await Promise.all(files.map(({ hash }) => stored.nameOf(hash)))
  t.match(first, { data: { filename: 'a.txt', fileSize: 5, blob: names[0] } })
  for (const name of names) t.ok(await stored.get(name))
})

t.test('nothing goes into a DataStore that there is not', async (t) => {
  const { by } = await organization()
  const { datastoreId } = await createDatastore({ displayName: 'Terms', description: null }, by)
  await deleteDatastore({ datastoreId, force: false }, by)
  const events = await appended(async () => {
    for (const id of [datastoreId, 'none'])
      await t.rejects(uploadFiles({ datastoreId: id, files: [arrivedFile('a.txt')] }, by), {
        code: 'datastore_not_found',
      })
  })
  t.strictSame(events, [])
})

for (const [failure, title, refused] of [
  [new KeyDestroyed(), 'whose key is destroyed meanwhile', { code: 'datastore_not_found' }],
  [new Error('the disk is full'), 'on a full disk', { message: 'the disk is full' }],
] as const)
  t.test(`an upload to a DataStore ${title} is refused: ${Object.values(refused)}`, async (t) => {
    const { by } = await organization()
    const { datastoreId } = await createDatastore({ displayName: 'Terms', description: null }, by)
    const under = (keyName: string) => ({
      ...blobs.under(keyName),
      nameOf: async () => {
        throw failure
      },
    })
    const upload = uploadFilesOver({ transact, clock, blobs: { under } })
    await t.rejects(upload({ datastoreId, files: [arrivedFile('a.txt')] }, by), refused)
  })
