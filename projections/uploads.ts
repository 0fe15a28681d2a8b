import { z } from 'zod'
import type { Seen } from '../src/domain/event.ts'
import { type FileEvent, fileEvents } from '../src/domain/file/events.ts'
import { count, flag, incomplete, listPosition, text, timestamp } from './fields.ts'
import { projection, without } from './projection.ts'

/** An upload; one that is removed is kept, unseen, until its blobs are removed too. */
export const uploadView = z.object({
  upload_id: text,
  organization_id: text,
  datastore_id: text,
  filename: text,
  file_size: count,
  file_type: fileEvents.UploadReceived.shape.fileType,
  status: z.enum(['pending', 'processing', 'indexing', 'completed', 'failed']),
  uploaded_at: timestamp,
  indexed_at: timestamp.nullable(),
  error_message: text.nullable(),
  /** What cannot be read of the document, where there is any. */
  warnings: z.array(text).optional(),
  /** User whose plan it counts towards; absent in documents of earlier releases. */
  uploaded_by: text.nullable().optional(),
  /** The document's bytes, and the chunks made of it, in the blob store. */
  blob: text,
  chunks_blob: text.nullable(),
  /** What the chunks mean, and the model that says so. */
  vectors_blob: text.optional(),
  vectors_model: text.optional(),
  /** The blob that will hold its chunks once it is read again. */
  next_chunks_blob: text.optional(),
  /** Blobs of chunks and vectors that others have replaced; they are erased with it at last. */
  stale_blobs: z.array(text).optional(),
  /** The version of the reader that found its chunks, or failed; only until it is removed. */
  reader: count.optional(),
  /** Only while it can be searched and has no vectors. */
  unembedded: flag,
  /** Only until it is removed. */
  shown: flag,
  /** Only while there is something to be done about it: reading, indexing, erasing. */
  open: flag,
  /** Position of its arrival. */
  position: listPosition,
  incomplete,
})
export type UploadView = z.infer<typeof uploadView>

/** Neither in feeds nor in past states. */
const inner = {
  uploaded_by: true,
  chunks_blob: true,
  vectors_blob: true,
  vectors_model: true,
  next_chunks_blob: true,
  stale_blobs: true,
  reader: true,
  unembedded: true,
  open: true,
  position: true,
} as const

const over = (
  { open: _, ...view }: UploadView,
  change: Pick<UploadView, 'status'> & Partial<UploadView>,
): UploadView => ({ ...view, ...change })

const status =
  (status: UploadView['status']) =>
  (view: UploadView): UploadView => ({ ...view, status })

/** Changes a view, and adds blobs to those that are stale, unless the view has them now. */
const stale = (
  view: UploadView,
  change: Partial<UploadView>,
  blobs: readonly (string | null | undefined)[],
): UploadView => {
  const { stale_blobs: before = [], ...rest } = view
  const changed = { ...rest, ...change }
  const inUse = [changed.chunks_blob, changed.next_chunks_blob, changed.vectors_blob]
  const all = [...before, ...blobs].filter((blob) => typeof blob === 'string')
  const stale_blobs = [...new Set(all)].filter((blob) => !inUse.includes(blob))
  return stale_blobs.length > 0 ? { ...changed, stale_blobs } : changed
}

const reread = (
  view: UploadView,
  { data }: Seen<typeof fileEvents, 'UploadReread'>,
): UploadView => {
  const { reader, chunksBlob: chunks_blob } = data
  const { next_chunks_blob: next, ...before } = view
  const rest = data.warnings ? { ...before, warnings: data.warnings } : before
  if (chunks_blob === undefined) return stale(rest, { reader }, [next])
  const { vectors_blob, vectors_model: _, ...bare } = rest
  const change = { reader, chunks_blob, unembedded: true } as const
  return stale(bare, change, [next, view.chunks_blob, vectors_blob])
}

const received = (
  { data, metadata, position }: Seen<typeof fileEvents, 'UploadReceived'>,
  id: string,
): UploadView => ({
  upload_id: id,
  organization_id: metadata.organization_id,
  datastore_id: data.datastoreId,
  filename: data.filename,
  file_size: data.fileSize,
  file_type: data.fileType,
  status: 'processing',
  uploaded_at: metadata.at,
  indexed_at: null,
  error_message: null,
  uploaded_by: metadata.actor.user_id,
  blob: data.blob,
  chunks_blob: null,
  shown: true,
  open: true,
  position,
})

export const uploads = projection<UploadView, typeof fileEvents>()({
  name: 'uploads',
  schema: uploadView,
  version: 4,
  shown: {
    schema: uploadView.omit(inner),
    document: (view) => without(view, inner),
  },
  categories: ['file'],
  events: fileEvents,
  indexes: {
    by_organization: { equals: ['organization_id', 'shown'], orderBy: 'position' },
    by_status: { equals: ['organization_id', 'status', 'shown'], orderBy: 'position' },
    by_datastore: { equals: ['organization_id', 'datastore_id', 'shown'], orderBy: 'position' },
    by_datastore_and_status: {
      equals: ['organization_id', 'datastore_id', 'status', 'shown'],
      orderBy: 'position',
    },
    by_blob: { equals: ['blob', 'shown'] },
    open: { equals: ['open'] },
    unembedded: { equals: ['unembedded'] },
    by_reader: { equals: ['reader'] },
  },
  id: ({ data }: FileEvent) => data.uploadId,
  creates: { UploadReceived: received },
  changes: {
    UploadRequeued: (view) => ({ ...view, status: 'pending', error_message: null, open: true }),
    UploadProcessingStarted: status('processing'),
    UploadIndexingStarted: (view, { data }) => ({
      ...stale(view, { chunks_blob: data.chunksBlob }, [view.chunks_blob]),
      status: 'indexing',
      reader: data.reader ?? 1,
      ...(data.warnings && { warnings: data.warnings }),
    }),
    UploadCompleted: (view, { metadata }) =>
      over(view, { status: 'completed', indexed_at: metadata.at, unembedded: true }),
    UploadEmbedded: ({ unembedded: _, ...view }, { data }) => ({
      ...view,
      vectors_blob: data.vectorsBlob,
      vectors_model: data.model,
    }),
    UploadRereadingStarted: (view, { data }) =>
      stale(view, { next_chunks_blob: data.chunksBlob }, [view.next_chunks_blob]),
    UploadReread: reread,
    UploadFailed: (view, { data }) => ({
      ...over(view, { status: 'failed', error_message: data.reason }),
      reader: data.reader ?? 1,
    }),
    UploadRemoved: ({ shown: _, unembedded: __, reader: ___, ...view }) => ({
      ...view,
      open: true,
    }),
  },
  removes: ['UploadErased'],
  ignores: {},
})
