import t from 'tap'
import { datastores } from '../../projections/datastores.ts'
import { uploads } from '../../projections/uploads.ts'
import { projecting } from '../support/given.ts'

const identity = { uploadId: 'u-1', datastoreId: 'd-1' }
const received = {
  type: 'UploadReceived',
  data: { ...identity, filename: 'a.md', fileSize: 5, fileType: 'text/markdown', blob: 'b' },
} as const
const indexing = {
  type: 'UploadIndexingStarted',
  data: { ...identity, chunks: 2, chunksBlob: 'c' },
} as const
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

t.test('uploads', async (t) => {
  const seen = projecting(t, uploads, 'file-org-1_f-1')
  seen(received).shows({ status: 'processing', shown: true, open: true, file_size: 5 }, 'u-1')
  seen(received, { type: 'UploadRequeued', data: identity }).shows({ status: 'pending' })
  seen(received, indexing).shows({ status: 'indexing', chunks_blob: 'c', open: true })
  seen(received, indexing, completed).shows({
    upload_id: 'u-1',
    organization_id: 'org-1',
    status: 'completed',
    indexed_at: later,
    open: undefined,
    shown: true,
    unembedded: true,
  })
  seen(received, indexing, completed, embedded).shows({
    vectors_blob: 'v',
    vectors_model: 'openai/small',
    unembedded: undefined,
  })
  seen(received, indexing, completed, removed).shows({ unembedded: undefined })
  seen(received, { type: 'UploadFailed', data: { ...identity, reason: 'Empty' } }).shows({
    status: 'failed',
    error_message: 'Empty',
    open: undefined,
  })
  seen(received, indexing, completed, removed).shows({ shown: undefined, open: true, blob: 'b' })
  seen(received, removed, { type: 'UploadErased', data: identity }).showsNothing('u-1')
})

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
