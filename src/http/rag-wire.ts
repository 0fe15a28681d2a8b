import { z } from 'zod'
import { timestamp } from './admin-wire.ts'

export const uploadStatus = z.enum(['pending', 'processing', 'indexing', 'completed', 'failed'])

/** A file of a DataStore, as its list has it. */
export const fileItem = {
  upload_id: z.string(),
  filename: z.string(),
  file_size: z.int(),
  file_type: z.string(),
  status: uploadStatus,
  uploaded_at: timestamp,
  indexed_at: timestamp.nullable(),
  error_message: z.string().nullable(),
}

/** An upload, as the list of uploads has it. */
export const uploadItem = {
  ...fileItem,
  datastore_id: z.string(),
  datastore_name: z.string(),
}
