import t from 'tap'
import { dataStoresStream, decideBeginUploads } from '../../src/domain/datastore/datastore.ts'
import { arrivedFile } from '../support/arrived-file.ts'
import { commanding, typesOf } from '../support/commanding.ts'

const {
  createAgent,
  createDatastore,
  deleteDatastore,
  deleteFile,
  followUpload,
  uploadFiles,
  appended,
  appendedOnce,
  transact,
  organization,
} = await commanding(t)

const scene = async () => {
  const { by } = await organization()
  const { datastoreId } = await createDatastore({ displayName: 'Terms', description: null }, by)
  const upload = async (filename: string) => {
    const { uploads } = await uploadFiles({ datastoreId, files: [arrivedFile(filename)] }, by)
    return { uploadId: uploads[0]?.uploadId ?? '', datastoreId, filename }
  }
  return { by, datastoreId, upload, command: { datastoreId, force: false } }
}

t.test('one that is not in use', async (t) => {
  const { by, command, datastoreId } = await scene()
  const idle = { name: 'Idle', isActive: false, datastoreIds: [datastoreId] }
  const { agentId } = await createAgent(idle, by)
  const events = await appendedOnce(t, (call) => deleteDatastore(command, call), by)
  t.match(events, [
    { type: 'AgentChanged', data: { agentId, datastoreIds: [] } },
    { type: 'DataStoreDeleted', data: { datastoreId } },
  ])
})

t.test('agents that answer from it use it', async (t) => {
  const { by, command, datastoreId } = await scene()
  const { agentId } = await createAgent({ name: 'Reader', datastoreIds: [datastoreId] }, by)
  await t.rejects(deleteDatastore(command, by), {
    code: 'datastore_in_use',
    message: 'The DataStore is in use by: Reader',
    facts: { agents: [{ agentId, name: 'Reader' }] },
  })
  const force = { ...command, force: true }
  const events = await appendedOnce(t, (call) => deleteDatastore(force, call), by)
  t.strictSame(typesOf(events), ['AgentChanged', 'DataStoreDeleted'])
})

t.test('uploads use it until they are completed, failed or removed', async (t) => {
  const { by, command, datastoreId, upload } = await scene()
  const [first, second, third] = [
    await upload('1.txt'),
    await upload('2.txt'),
    await upload('3.txt'),
  ]
  const unfinished = (n: number) =>
    t.rejects(deleteDatastore(command, by), {
      code: 'datastore_in_use',
      message: `The DataStore has ${n} unfinished uploads`,
      facts: { agents: [] },
    })
  await unfinished(3)
  await followUpload.fail(first, { reason: 'not readable' }, by)
  await unfinished(2)
  await followUpload.index(second, { chunks: 1, chunksBlob: 'c' }, by)
  await unfinished(2)
  await followUpload.complete(second, by)
  await unfinished(1)
  await deleteFile({ datastoreId, filename: third.filename }, by)
  t.strictSame(typesOf(await appended(() => deleteDatastore(command, by))), ['DataStoreDeleted'])
})

t.test('by force also while uploads are under way', async (t) => {
  const { by, command, upload } = await scene()
  await upload('1.txt')
  await t.resolves(deleteDatastore({ ...command, force: true }, by))
})

t.test('an upload that a crash left begun does not prevent deletion', async (t) => {
  const { by, command, datastoreId } = await scene()
  const uploads = [{ uploadId: 'lost', filename: 'lost.txt' }]
  const uploadsBegun = decideBeginUploads({ datastoreId, uploads })
  await transact(dataStoresStream(by.organizationId), uploadsBegun, by)
  await t.resolves(deleteDatastore(command, by), 'the upload was never received')
})

t.test('one that there is not', async (t) => {
  const { by, command } = await scene()
  await deleteDatastore(command, by)
  await t.rejects(deleteDatastore(command, by), { code: 'datastore_not_found' })
  await t.rejects(deleteDatastore({ ...command, datastoreId: 'none' }, by), {
    code: 'datastore_not_found',
  })
})
