import t from 'tap'
import { dataStoresStream, decideBeginUploads } from '../../src/domain/datastore/datastore.ts'
import { arrived } from '../support/arrived.ts'
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
    const { uploads } = await uploadFiles({ datastoreId, files: [arrived(filename)] }, by)
    return { uploadId: uploads[0]?.uploadId ?? '', datastoreId, filename }
  }
  return { by, datastoreId, upload, asked: { datastoreId, force: false } }
}

t.test('one that is not in use', async (t) => {
  const { by, asked, datastoreId } = await scene()
  const idle = { name: 'Idle', isActive: false, datastoreIds: [datastoreId] }
  const { agentId } = await createAgent(idle, by)
  const events = await appendedOnce(t, (call) => deleteDatastore(asked, call), by)
  t.match(events, [
    { type: 'AgentChanged', data: { agentId, datastoreIds: [] } },
    { type: 'DataStoreDeleted', data: { datastoreId } },
  ])
})

t.test('agents that answer from it use it', async (t) => {
  const { by, asked, datastoreId } = await scene()
  const { agentId } = await createAgent({ name: 'Reader', datastoreIds: [datastoreId] }, by)
  await t.rejects(deleteDatastore(asked, by), {
    code: 'datastore_in_use',
    message: 'The DataStore is in use by: Reader',
    facts: { agents: [{ agentId, name: 'Reader' }] },
  })
  const force = { ...asked, force: true }
  const events = await appendedOnce(t, (call) => deleteDatastore(force, call), by)
  t.strictSame(typesOf(events), ['AgentChanged', 'DataStoreDeleted'])
})

t.test('uploads use it until they are completed, failed or removed', async (t) => {
  const { by, asked, datastoreId, upload } = await scene()
  const [one, two, three] = [await upload('1.txt'), await upload('2.txt'), await upload('3.txt')]
  const unfinished = (n: number) =>
    t.rejects(deleteDatastore(asked, by), {
      code: 'datastore_in_use',
      message: `The DataStore has ${n} unfinished uploads`,
      facts: { agents: [] },
    })
  await unfinished(3)
  await followUpload.fail(one, { reason: 'not readable' }, by)
  await unfinished(2)
  await followUpload.index(two, { chunks: 1, chunksBlob: 'c' }, by)
  await unfinished(2)
  await followUpload.complete(two, by)
  await unfinished(1)
  await deleteFile({ datastoreId, filename: three.filename }, by)
  t.strictSame(typesOf(await appended(() => deleteDatastore(asked, by))), ['DataStoreDeleted'])
})

t.test('by force also while uploads are under way', async (t) => {
  const { by, asked, upload } = await scene()
  await upload('1.txt')
  await t.resolves(deleteDatastore({ ...asked, force: true }, by))
})

t.test("what a crash left begun is in nobody's way", async (t) => {
  const { by, asked, datastoreId } = await scene()
  const uploads = [{ uploadId: 'lost', filename: 'lost.txt' }]
  const begin = decideBeginUploads({ datastoreId, uploads })
  await transact(dataStoresStream(by.organizationId), begin, by)
  await t.resolves(deleteDatastore(asked, by), 'the upload was never received')
})

t.test('one that there is not', async (t) => {
  const { by, asked } = await scene()
  await deleteDatastore(asked, by)
  await t.rejects(deleteDatastore(asked, by), { code: 'datastore_not_found' })
  await t.rejects(deleteDatastore({ ...asked, datastoreId: 'none' }, by), {
    code: 'datastore_not_found',
  })
})
