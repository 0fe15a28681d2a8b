import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { FollowUploadCommands } from '../../commands/follow-upload.ts'
import type { UploadView } from '../../projections/uploads.ts'
import { findPages } from '../../queries/find-pages.ts'
import type { Embedder } from '../ports/embedder.ts'
import { ModelFault, ModelTimeout, ModelUnavailable } from '../ports/model.ts'
import { chunkIn, linesOf, searchableText } from '../rag/stored-chunks.ts'
import { quantized, vectorBlob } from '../rag/vectors.ts'
import { storedUpload, type UploadWorkerUses } from './stored-upload.ts'
import { withLease } from './with-lease.ts'
import { workQueue } from './work-queue.ts'

/** Texts in one request. */
const batchSize = 64
/** Documents at once. */
const most = 2
/** How long an unreachable provider is not asked, and a refused document is not tried again. */
const restMs = 15_000
const refusedMs = 60 * 60_000

type Uses = UploadWorkerUses & {
  embedder: Embedder
  followUpload: FollowUploadCommands
}

/**
 * Embeds indexed uploads, once each, and stores the vectors. Search does not depend on it: while
 * the provider is down or refuses, documents are found by their words.
 */
export const embedUploads = (uses: Uses) => {
  const { uploads, embedder, followUpload, waitForPosition, leases, clock, node, log } = uses
  const { blobsOf, subject } = storedUpload(uses)
  const { findRequestId } = uses
  const refused = new LRUCache<string, true>({ max: 10_000, ttl: refusedMs })
  let restUntil = Number.NEGATIVE_INFINITY
  let stopped = false

  const isDone = async (view: UploadView): Promise<boolean> =>
    view.vectors_model === embedder.name &&
    (await blobsOf(view).size(view.vectors_blob ?? '')) !== undefined

  /** A vector for each chunk; undefined when the chunks are gone or this process stops. */
  const vectorsOf = async (view: UploadView): Promise<Int8Array[] | undefined> => {
    const bytes = view.chunks_blob ? await blobsOf(view).get(view.chunks_blob) : undefined
    if (!bytes) return undefined
    const vectors: Int8Array[] = []
    let batch: string[] = []
    const flush = async () => {
      for (const vector of await embedder.embed(batch)) vectors.push(quantized(vector))
      batch = []
    }
    for await (const { number, text } of linesOf(bytes)) {
      if (stopped) return undefined
      if (number > 0) batch.push(searchableText(chunkIn(text)))
      if (batch.length === batchSize) await flush()
    }
    if (batch.length > 0) await flush()
    return vectors
  }

  const embed = async (view: UploadView): Promise<void> => {
    const vectors = await vectorsOf(view)
    if (!vectors || stopped) return
    const blob = vectorBlob(view.upload_id, embedder.name, vectors)
    const stored = blobsOf(view)
    const vectorsBlob = await stored.nameOf(createHash('sha256').update(blob).digest('hex'))
    if (view.vectors_blob && view.vectors_blob !== vectorsBlob)
      await stored.remove(view.vectors_blob)
    const { upload, call } = subject(view)
    const { wanted, position } = await followUpload.embed(
      upload,
      {
        model: embedder.name,
        dimensions: vectors[0]?.length ?? 0,
        vectorsBlob,
        vectorsBytes: blob.length,
      },
      call,
    )
    if (!wanted) return
    await stored.put([blob])
    await waitForPosition(position)
  }

  /** Logs the errors of a provider, and puts the work off. @throws any other error */
  const excused = async (id: string, err: unknown): Promise<void> => {
    const down = err instanceof ModelUnavailable || err instanceof ModelTimeout
    if (!down && !(err instanceof ModelFault)) throw err
    if (down) restUntil = clock.monotonic() + restMs
    else refused.set(id, true)
    log.warn(
      { err, reqId: await findRequestId(id), upload_id: id },
      'a document could not be embedded; until then search finds it by its words',
    )
  }

  const work = async (id: string): Promise<void> => {
    if (refused.has(id) || clock.monotonic() < restUntil) return
    const view = await uploads.get(id)
    if (!view?.shown || view.status !== 'completed' || (await isDone(view))) return
    const lease = { leases, name: `upload:${id}`, holder: `${node}/vectors` }
    await withLease(lease, () => embed(view).catch((err: unknown) => excused(id, err)))
    uses.onDone(view.organization_id, id)
  }

  const queue = workQueue({ work, log, findRequestId, most, what: 'embedding an upload' })

  const add = (organizationId: string, uploadIds: readonly string[]): void => {
    for (const id of uploadIds) queue.add(organizationId, id)
  }

  return {
    /** These may have no vectors. */
    add,
    /** Queues all uploads that have none; called periodically. */
    async sweep(): Promise<void> {
      for await (const items of findPages(uploads, { index: 'unembedded', equals: [true] }))
        for (const { organization_id, upload_id } of items) queue.add(organization_id, upload_id)
    },
    async stop(): Promise<void> {
      stopped = true
      await queue.stop()
    },
  }
}
