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

/** @throws upload_not_found */
export const getUpload =
  ({ uploads, datastores }: UploadUses) =>
  async (organizationId: string, uploadId: string) => {
    const view = await uploads.get(uploadId)
    const datastore = await datastores.get(view?.datastore_id ?? '')
    if (view?.organization_id !== organizationId || !view.shown || !datastore?.shown)
      throw refusal('upload_not_found')
    return { ...uploadAnswer(view, datastore), ready: view.status === 'completed' }
  }
export type GetUpload = ReturnType<typeof getUpload>
