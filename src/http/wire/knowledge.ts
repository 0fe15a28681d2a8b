import { z } from 'zod'
import { datastoreView } from '../../../projections/datastores.ts'
import { uploadView } from '../../../projections/uploads.ts'
import { baseName } from '../../domain/file/types.ts'

export const uploadStatus = uploadView.shape.status

/** A DataStore's id in a path or body. */
export const datastoreId = z.string().min(1).max(128)

const printable = /^[^\p{Cc}\p{Cs}]+$/u

/** The name of a file, without folders. */
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

/** A file in the list of a DataStore's files. There may be more types. */
export const fileItem = uploadView
  .pick({
    upload_id: true,
    filename: true,
    file_size: true,
    file_type: true,
    status: true,
    uploaded_at: true,
    indexed_at: true,
    error_message: true,
  })
  .extend({ file_type: z.string() })

/** An upload in the list of uploads. */
export const uploadItem = fileItem.extend({
  datastore_id: uploadView.shape.datastore_id,
  datastore_name: datastoreView.shape.display_name,
  warnings: uploadView.shape.warnings,
})
