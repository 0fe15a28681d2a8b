import type { FollowedUpload } from '../../commands/follow-upload.ts'
import type { UploadView } from '../../projections/uploads.ts'
import { type Call, systemCall } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'
import type { Leases } from '../ports/leases.ts'
import type { Log } from '../ports/log.ts'
import type { View, WaitForPosition } from '../ports/views.ts'
import type { ReadDocument } from '../rag/document-reader.ts'
import type { SealedBlobs } from '../security/sealed-blobs.ts'
import { datastoreKey } from '../security/vault.ts'

type Read = Exclude<ReadDocument, { failed: string }>

/** Why an upload fails whose seal is broken. */
export const damagedFile = 'The stored file is damaged: upload it again'

/** What each worker on uploads uses. */
export type UploadWorkerUses = {
  uploads: View<UploadView>
  blobs: SealedBlobs
  waitForPosition: WaitForPosition
  /** Called after each pass, also if another holder had the lease: another worker may have work. */
  onDone(organizationId: string, uploadId: string): void
  /** The request that an upload came with, for the log. */
  findRequestId(id: string): Promise<string | undefined>
  leases: Leases
  clock: Clock
  node: string
  log: Log
}

/** An upload as commands and blobs know it. */
export const storedUpload = ({ blobs, clock }: Pick<UploadWorkerUses, 'blobs' | 'clock'>) => {
  const blobsOf = ({ organization_id, datastore_id }: UploadView) =>
    blobs.under(datastoreKey(organization_id, datastore_id))

  return {
    blobsOf,
    /** Its names for a command, and a call of the present time. */
    subject: (view: UploadView): { upload: FollowedUpload; call: Call } => ({
      upload: { uploadId: view.upload_id, datastoreId: view.datastore_id, filename: view.filename },
      call: systemCall(view.upload_id, clock.now(), view.organization_id),
    }),
    /** The chunks that its document gave, as events name them. */
    chunkFieldsOf: async (view: UploadView, { count, hash, lines }: Read) => ({
      chunks: count,
      chunksBlob: await blobsOf(view).nameOf(hash),
      chunksBytes: lines.reduce((sum, { length }) => sum + length, 0),
    }),
  }
}
