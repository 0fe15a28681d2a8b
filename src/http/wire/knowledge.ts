import { z } from 'zod'
import { baseName } from '../../domain/file/types.ts'
import { timestamp } from './admin.ts'

export const uploadStatus = z.enum(['pending', 'processing', 'indexing', 'completed', 'failed'])

const printable = /^[^\p{Cc}\p{Cs}]+$/u

/** The name of a file, whatever folder it came from. */
export const filename = z
  .string()
  .transform(baseName)
  .pipe(
    z
      .string()
      .min(1, 'A file needs a name')
      .max(255, 'A file name has at most 255 characters')
      .regex(printable, 'A file name has no control characters'),
  )

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
