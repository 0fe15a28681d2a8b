import { z } from 'zod'
import { dataStoreEvents } from '../src/domain/datastore/events.ts'
import { fileEvents } from '../src/domain/file/events.ts'
import { count, flag, incomplete, text, timestamp } from './fields.ts'
import { projection } from './projection.ts'

export const datastoreView = z.object({
  datastore_id: text,
  organization_id: text,
  display_name: text,
  description: text.nullable(),
  document_count: count,
  created_at: timestamp,
  is_active: z.boolean(),
  /** Grows with every change of what can be searched in it. */
  version: count,
  /** Only until it is deleted. */
  shown: flag,
  /** Only while it is deleted and its files are not removed. */
  deleting: flag,
  incomplete,
})
export type DataStoreView = z.infer<typeof datastoreView>

const events = { ...dataStoreEvents, ...fileEvents }

const counted = (view: DataStoreView, more: number): DataStoreView => ({
  ...view,
  document_count: view.document_count + more,
  version: view.version + 1,
})

export const datastores = projection<DataStoreView, typeof events>()({
  name: 'datastores',
  schema: datastoreView,
  shown: { schema: datastoreView },
  categories: ['datastores', 'file'],
  events,
  indexes: {
    by_organization: { equals: ['organization_id', 'shown'], orderBy: 'created_at' },
    deleting: { equals: ['deleting'] },
  },
  id: ({ data }) => data.datastoreId,
  creates: {
    DataStoreCreated: ({ data, metadata }, id) => ({
      datastore_id: id,
      organization_id: metadata.organization_id,
      display_name: data.displayName,
      description: data.description,
      document_count: 0,
      created_at: metadata.at,
      is_active: true,
      version: 0,
      shown: true,
    }),
  },
  changes: {
    DataStoreDeleted: ({ shown: _, ...view }) => ({ ...view, is_active: false, deleting: true }),
    UploadCompleted: (view) => counted(view, 1),
    UploadEmbedded: (view) => counted(view, 0),
    UploadReread: (view, { data }) => (data.chunksBlob ? counted(view, 0) : view),
    UploadRemoved: (view, { data }) => (data.completed ? counted(view, -1) : view),
  },
  removes: ['DataStoreCleared'],
  // biome-ignore format: few lines
  ignores: {
    UploadsBegun: true, UploadsFinished: true, UploadReceived: true, UploadRequeued: true,
    UploadProcessingStarted: true, UploadIndexingStarted: true, UploadRereadingStarted: true,
    UploadFailed: true, UploadErased: true,
  },
})
