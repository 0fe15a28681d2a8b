import type { DataStoreView } from '../projections/datastores.ts'
import type { UploadView } from '../projections/uploads.ts'
import { refusal } from '../src/domain/refusal.ts'
import type { View } from '../src/ports/views.ts'
import { fileOf } from './list-files.ts'

export type UploadUses = { uploads: View<UploadView>; datastores: View<DataStoreView> }

export const uploadAnswer = (
  view: UploadView,
  { display_name }: Pick<DataStoreView, 'display_name'>,
) => ({
  ...fileOf(view),
  datastore_id: view.datastore_id,
  datastore_name: display_name,
  ...(view.warnings?.length && { warnings: view.warnings }),
})

/** An upload and its DataStore. @throws upload_not_found */
export const findUpload =
  ({ uploads, datastores }: UploadUses) =>
  async (organizationId: string, uploadId: string) => {
    const upload = await uploads.get(uploadId)
    const datastore = await datastores.get(upload?.datastore_id ?? '')
    if (upload?.organization_id !== organizationId || !upload.shown || !datastore?.shown)
      throw refusal('upload_not_found')
    return { upload, datastore }
  }

export type FindUpload = ReturnType<typeof findUpload>

/** @throws upload_not_found */
export const getUpload = (uses: UploadUses) => {
  const find = findUpload(uses)
  return async (organizationId: string, uploadId: string) => {
    const { upload, datastore } = await find(organizationId, uploadId)
    return { ...uploadAnswer(upload, datastore), ready: upload.status === 'completed' }
  }
}
export type GetUpload = ReturnType<typeof getUpload>
