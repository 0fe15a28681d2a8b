import t from 'tap'
import { uploads } from '../../projections/uploads.ts'
import { handlesAll, projecting } from '../support/given.ts'

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
  const requeued = { type: 'UploadRequeued', data: identity } as const
  seen(received, requeued).shows({ status: 'pending' })
  const processingStarted = { type: 'UploadProcessingStarted', data: identity } as const
  seen(received, requeued, processingStarted).shows({ status: 'processing', open: true })
  seen(received, indexing).shows({ status: 'indexing', chunks_blob: 'c', open: true })
  const some = { ...indexing, data: { ...indexing.data, warnings: ['Cannot be read: page 2'] } }
  seen(received, some, completed).shows({ warnings: ['Cannot be read: page 2'] })
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
    reader: 1,
  })
  const failed = {
    type: 'UploadFailed',
    data: { ...identity, reason: 'Empty', reader: 2 },
  } as const
  seen(received, failed).shows({ reader: 2 })
  seen(received, failed, requeued).shows({ status: 'pending', error_message: null, open: true })
  const other = { ...indexing, data: { ...indexing.data, chunksBlob: 'd' } }
  seen(received, indexing, requeued, indexing).shows({ stale_blobs: undefined })
  seen(received, indexing, requeued, other).shows({ chunks_blob: 'd', stale_blobs: ['c'] })
  seen(received, indexing, completed, removed).shows({ shown: undefined, open: true, blob: 'b' })
  seen(received, removed, { type: 'UploadErased', data: identity }).showsNothing('u-1')
})

t.test('chunks that are read again replace those before, which are erased with them', async (t) => {
  const seen = projecting(t, uploads, 'file-org-1_f-1')
  const first = [received, indexing, completed, embedded]
  const announced = (chunksBlob: string) =>
    ({
      type: 'UploadRereadingStarted',
      data: { ...identity, reader: 2, chunks: 3, chunksBlob },
    }) as const
  const reread = (reader: number, chunksBlob?: string) =>
    ({
      type: 'UploadReread',
      data: { ...identity, reader, ...(chunksBlob ? { chunksBlob } : {}) },
    }) as const
  seen(...first).shows({ reader: 1, chunks_blob: 'c' })
  seen(...first, announced('d')).shows({
    status: 'completed',
    chunks_blob: 'c',
    next_chunks_blob: 'd',
    reader: 1,
    stale_blobs: undefined,
  })
  seen(...first, announced('d'), announced('e')).shows({
    next_chunks_blob: 'e',
    stale_blobs: ['d'],
  })
  seen(...first, announced('d'), reread(2, 'd')).shows({
    chunks_blob: 'd',
    next_chunks_blob: undefined,
    vectors_blob: undefined,
    vectors_model: undefined,
    unembedded: true,
    reader: 2,
    stale_blobs: ['c', 'v'],
  })
  seen(...first, announced('d'), reread(2, 'd'), announced('c'), reread(3, 'c')).shows({
    chunks_blob: 'c',
    stale_blobs: ['v', 'd'],
  })
  seen(...first, announced('d'), reread(3)).shows({
    chunks_blob: 'c',
    vectors_blob: 'v',
    next_chunks_blob: undefined,
    reader: 3,
    stale_blobs: ['d'],
  })
  const named = { ...reread(2), data: { ...reread(2).data, warnings: ['Page 2'] } }
  seen(...first, named).shows({ warnings: ['Page 2'], chunks_blob: 'c' })
  const by = { ...indexing, data: { ...indexing.data, reader: 2 } }
  seen(received, by, completed).shows({ reader: 2 })
  seen(received, by, completed, removed).shows({ reader: undefined })
})

t.test('every event it handles was given', async (t) => handlesAll(t, uploads))
