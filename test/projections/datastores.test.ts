import t from 'tap'
import { datastores } from '../../projections/datastores.ts'
import { handlesAll, projecting } from '../support/given.ts'

const identity = { uploadId: 'u-1', datastoreId: 'd-1' }
const later = '2026-01-02T00:00:00.000Z'
const completed = { type: 'UploadCompleted', data: identity, at: later } as const
const embedded = {
  type: 'UploadEmbedded',
  data: { ...identity, model: 'openai/small', dimensions: 3, vectorsBlob: 'v' },
} as const
const removed = {
  type: 'UploadRemoved',
  data: { ...identity, reason: 'deleted', completed: true },
} as const

t.test('DataStores', async (t) => {
  const stream = 'file-org-1_f-1'
  const seen = projecting(t, datastores, 'datastores-org-1_org-1')
  const created = {
    type: 'DataStoreCreated',
    data: { datastoreId: 'd-1', displayName: 'Terms', description: null },
  } as const
  const deleted = { type: 'DataStoreDeleted', data: { datastoreId: 'd-1' } } as const
  seen(created).shows({ display_name: 'Terms', document_count: 0, is_active: true, version: 0 })
  seen(created, { ...completed, stream }).shows({ document_count: 1, version: 1 })
  seen(created, { ...completed, stream }, { ...embedded, stream }).shows({
    document_count: 1,
    version: 2,
  })
  const reread = (data: { chunksBlob?: string }) =>
    ({ type: 'UploadReread', data: { ...identity, reader: 2, ...data }, stream }) as const
  seen(created, { ...completed, stream }, reread({ chunksBlob: 'd' })).shows({
    document_count: 1,
    version: 2,
  })
  seen(created, { ...completed, stream }, reread({})).shows({ document_count: 1, version: 1 })
  seen(created, { ...completed, stream }, { ...removed, stream }).shows({
    document_count: 0,
    version: 2,
  })
  seen(created, deleted).shows({ shown: undefined, deleting: true, is_active: false })
  seen(created, deleted, {
    type: 'DataStoreCleared',
    data: { datastoreId: 'd-1' },
  }).showsNothing('d-1')
})

t.test('every event it handles was given', async (t) => handlesAll(t, datastores))
