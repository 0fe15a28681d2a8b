import { type Aggregate, streamOf } from '../aggregate.ts'
import { refusal } from '../refusal.ts'
import { type FileEvent, fileEvents } from './events.ts'

type Status = 'pending' | 'processing' | 'indexing' | 'completed' | 'failed' | 'removed'
type Upload = {
  datastoreId: string
  status: Status
  /** The blob of its vectors, once it has any. */
  vectors?: string
  /** The blob that will hold its chunks, read again. */
  rereading?: string
  /** The reader that has read it again, or that failed. */
  reader?: number
}

/** A file of a DataStore: every upload under its name that is not erased, the oldest first. */
export type File = { uploads: Readonly<Record<string, Upload>> }

type Identity = { uploadId: string; datastoreId: string }

const withUpload = (
  { uploads }: File,
  { uploadId, datastoreId }: Identity,
  upload: Omit<Upload, 'datastoreId'>,
): File => ({ uploads: { ...uploads, [uploadId]: { ...upload, datastoreId } } })

const becomes =
  (status: Status) =>
  (state: File, identity: Identity): File =>
    withUpload(state, identity, { status })

export const file: Aggregate<File, typeof fileEvents> = {
  category: 'file',
  events: fileEvents,
  initial: { uploads: {} },
  evolve: {
    UploadReceived: becomes('processing'),
    UploadRequeued: becomes('pending'),
    UploadProcessingStarted: becomes('processing'),
    UploadIndexingStarted: becomes('indexing'),
    UploadCompleted: becomes('completed'),
    UploadEmbedded: (state, { vectorsBlob: vectors, ...of }) =>
      withUpload(state, of, { ...state.uploads[of.uploadId], status: 'completed', vectors }),
    UploadRereadingStarted: (state, { chunksBlob: rereading, ...of }) =>
      withUpload(state, of, { ...state.uploads[of.uploadId], status: 'completed', rereading }),
    UploadReread: (state, { reader, chunksBlob, ...of }) => {
      const { rereading: _, vectors, ...upload } = state.uploads[of.uploadId] ?? {}
      const current = chunksBlob === undefined && vectors !== undefined ? { vectors } : {}
      return withUpload(state, of, { ...upload, ...current, status: 'completed', reader })
    },
    UploadFailed: (state, { reader = 1, ...of }) =>
      withUpload(state, of, { status: 'failed', reader }),
    UploadRemoved: becomes('removed'),
    UploadErased: ({ uploads }, { uploadId }) => {
      const { [uploadId]: _, ...others } = uploads
      return { uploads: others }
    },
  },
  stateVersion: 4,
}

/** `key` is a digest of DataStore and file name. */
export const fileStream = (organizationId: string, key: string) =>
  streamOf(file, organizationId, key)

const uploadIn = ({ uploads }: File, uploadId: string): Upload | undefined =>
  Object.hasOwn(uploads, uploadId) ? uploads[uploadId] : undefined

/** An upload that comes twice is received once. */
export const decideReceive =
  (data: FileEvent<'UploadReceived'>['data']) =>
  (state: File): FileEvent<'UploadReceived'>[] =>
    uploadIn(state, data.uploadId) ? [] : [{ type: 'UploadReceived', data }]

const unfinished = (status: Status | undefined): boolean =>
  status === 'pending' || status === 'processing' || status === 'indexing'

/** Whether an upload of the file is received and neither completed, failed nor removed. */
export const isUnderWay = (state: File, uploadId: string): boolean =>
  unfinished(uploadIn(state, uploadId)?.status)

/** The process that worked on it is gone: it waits again. */
export const decideRequeue =
  ({ uploadId, datastoreId }: Identity) =>
  (state: File): FileEvent<'UploadRequeued'>[] => {
    const status = uploadIn(state, uploadId)?.status
    if (status === 'pending' || !unfinished(status)) return []
    return [{ type: 'UploadRequeued', data: { uploadId, datastoreId } }]
  }

/** An interrupted upload is processed again; one just received counts as already processing. */
export const decideStart =
  ({ uploadId, datastoreId }: Identity) =>
  (state: File): FileEvent<'UploadProcessingStarted'>[] =>
    uploadIn(state, uploadId)?.status === 'pending'
      ? [{ type: 'UploadProcessingStarted', data: { uploadId, datastoreId } }]
      : []

export const decideIndex =
  (data: FileEvent<'UploadIndexingStarted'>['data']) =>
  (state: File): FileEvent<'UploadIndexingStarted'>[] =>
    uploadIn(state, data.uploadId)?.status === 'processing'
      ? [{ type: 'UploadIndexingStarted', data }]
      : []

const removed = (
  uploadId: string,
  { datastoreId, status }: Upload,
  reason: FileEvent<'UploadRemoved'>['data']['reason'],
): FileEvent<'UploadRemoved'> => ({
  type: 'UploadRemoved',
  data: { uploadId, datastoreId, reason, completed: status === 'completed' },
})

/**
 * Of the uploads of one file the latest that completes is the file: it replaces those before it,
 * and one that completes after a later one is replaced at once.
 */
export const decideComplete =
  ({ uploadId, datastoreId }: Identity) =>
  (state: File): FileEvent<'UploadCompleted' | 'UploadRemoved'>[] => {
    if (uploadIn(state, uploadId)?.status !== 'indexing') return []
    const all = Object.entries(state.uploads)
    const place = all.findIndex(([id]) => id === uploadId)
    const over = ([, { status }]: [string, Upload]) => status === 'completed' || status === 'failed'
    const earlier = all.slice(0, place).filter(over)
    const outdated = all.slice(place + 1).some(([, { status }]) => status === 'completed')
    const self: Upload = { datastoreId, status: 'completed' }
    return [
      { type: 'UploadCompleted', data: { uploadId, datastoreId } },
      ...earlier.map(([id, upload]) => removed(id, upload, 'replaced')),
      ...(outdated ? [removed(uploadId, self, 'replaced')] : []),
    ]
  }

/** Records the vectors of an upload that can be searched; the same vectors once. */
export const decideEmbed =
  (data: FileEvent<'UploadEmbedded'>['data']) =>
  (state: File): FileEvent<'UploadEmbedded'>[] => {
    const upload = uploadIn(state, data.uploadId)
    const isNew = upload?.status === 'completed' && upload.vectors !== data.vectorsBlob
    return isNew ? [{ type: 'UploadEmbedded', data }] : []
  }

/** Whether these are the vectors of an upload that can be searched. */
export const hasVectors = (state: File, uploadId: string, vectorsBlob: string): boolean =>
  uploadIn(state, uploadId)?.vectors === vectorsBlob

/** Announces the chunks that a later reader has found, the same once. */
export const decideAnnounceReread =
  (data: FileEvent<'UploadRereadingStarted'>['data']) =>
  (state: File): FileEvent<'UploadRereadingStarted'>[] => {
    const upload = uploadIn(state, data.uploadId)
    const isNew = upload?.status === 'completed' && upload.rereading !== data.chunksBlob
    return isNew ? [{ type: 'UploadRereadingStarted', data }] : []
  }

/** Whether these chunks are announced for an upload that can be searched. */
export const isRereading = (state: File, uploadId: string, chunksBlob: string): boolean =>
  uploadIn(state, uploadId)?.rereading === chunksBlob

/** Replaces the chunks by those that are announced, or keeps them if none are named. */
export const decideFinishReread =
  (data: FileEvent<'UploadReread'>['data']) =>
  (state: File): FileEvent<'UploadReread'>[] => {
    const { status, reader = 1, rereading } = uploadIn(state, data.uploadId) ?? {}
    const isAnnounced = data.chunksBlob === undefined || data.chunksBlob === rereading
    const isDue = status === 'completed' && reader < data.reader && isAnnounced
    return isDue ? [{ type: 'UploadReread', data }] : []
  }

/** An upload under way fails; one that has failed fails again if a later reader cannot read it. */
export const decideFail =
  (data: FileEvent<'UploadFailed'>['data']) =>
  (state: File): FileEvent<'UploadFailed'>[] => {
    const { status, reader = 1 } = uploadIn(state, data.uploadId) ?? {}
    const isAgain = status === 'failed' && reader < (data.reader ?? 1)
    return unfinished(status) || isAgain ? [{ type: 'UploadFailed', data }] : []
  }

/** A later reader can read what has failed: it waits again. */
export const decideRetry =
  ({ uploadId, datastoreId }: Identity) =>
  (state: File): FileEvent<'UploadRequeued'>[] =>
    uploadIn(state, uploadId)?.status === 'failed'
      ? [{ type: 'UploadRequeued', data: { uploadId, datastoreId } }]
      : []

/** Removes every upload of the file. */
export const decideRemoveAll =
  (reason: FileEvent<'UploadRemoved'>['data']['reason']) =>
  ({ uploads }: File): FileEvent<'UploadRemoved'>[] =>
    Object.entries(uploads)
      .filter(([, { status }]) => status !== 'removed')
      .map(([id, upload]) => removed(id, upload, reason))

/** @throws file_not_found */
export const decideDelete = (state: File): FileEvent<'UploadRemoved'>[] => {
  const events = decideRemoveAll('deleted')(state)
  if (events.length === 0) throw refusal('file_not_found')
  return events
}

export const decideErase =
  ({ uploadId, datastoreId }: Identity) =>
  (state: File): FileEvent<'UploadErased'>[] =>
    uploadIn(state, uploadId)?.status === 'removed'
      ? [{ type: 'UploadErased', data: { uploadId, datastoreId } }]
      : []
