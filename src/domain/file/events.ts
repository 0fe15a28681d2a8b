import { z } from 'zod'
import type { EventOf } from '../aggregate.ts'
import { mimeTypes } from './types.ts'

const text = z.string()
const count = z.int().min(0)
const identity = z.object({ uploadId: text, datastoreId: text })

// Stored for good: add an optional field or a new event; never rename, never narrow.
export const fileEvents = {
  /** Stored before its bytes. `blob` names them: an HMAC, in earlier releases their SHA-256. */
  UploadReceived: identity.extend({
    filename: text,
    fileSize: count,
    fileType: z.enum(mimeTypes),
    blob: text,
  }),
  /** Its process crashed, or it failed and a later reader can read it. */
  UploadRequeued: identity,
  /** It is read again. Only after `UploadRequeued`. */
  UploadProcessingStarted: identity,
  /**
   * The document is read. `chunksBlob` is the blob that will hold its chunks, for searching;
   * `warnings` name what cannot be read of it.
   */
  UploadIndexingStarted: identity.extend({
    chunks: count,
    chunksBlob: text,
    chunksBytes: count.optional(),
    /** The version of the reader; absent: 1. */
    reader: count.optional(),
    warnings: z.array(text).optional(),
  }),
  /** The chunks are stored and can be searched. */
  UploadCompleted: identity,
  /** Embeddings of its chunks, made by `model`; `vectorsBlob` is the blob that will hold them. */
  UploadEmbedded: identity.extend({
    model: text,
    dimensions: count,
    vectorsBlob: text,
    vectorsBytes: count.optional(),
  }),
  /** A later reader has read the document again. `chunksBlob` will hold its chunks. */
  UploadRereadingStarted: identity.extend({
    reader: count,
    chunks: count,
    chunksBlob: text,
    chunksBytes: count.optional(),
  }),
  /**
   * What is searched is as this reader has it. `chunksBlob` holds the chunks if they differ;
   * `warnings` replace those of the earlier reader.
   */
  UploadReread: identity.extend({
    reader: count,
    chunksBlob: text.optional(),
    warnings: z.array(text).optional(),
  }),
  /** `reader` is the version of the reader that failed; absent: 1. */
  UploadFailed: identity.extend({ reason: text, reader: count.optional() }),
  /** No longer visible; its blobs are removed next. `completed`: it could be searched. */
  UploadRemoved: identity.extend({
    reason: z.enum(['deleted', 'replaced', 'datastore_deleted']),
    completed: z.boolean(),
  }),
  /** Its blobs are removed, unless another upload has the same bytes. */
  UploadErased: identity,
}

export type FileEvent<Type extends keyof typeof fileEvents = keyof typeof fileEvents> = EventOf<
  typeof fileEvents,
  Type
>
