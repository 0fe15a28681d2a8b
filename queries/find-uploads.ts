import type { UploadView } from '../projections/uploads.ts'
import type { View } from '../src/ports/views.ts'
import { readInOrder } from './read-in-order.ts'

export type UploadFilter = {
  status?: UploadView['status'] | undefined
  datastoreId?: string | undefined
}

/** The index that answers a filter, and its values between organization and `shown`. */
export const indexFor = ({ status, datastoreId }: UploadFilter) => {
  if (datastoreId === undefined)
    return status === undefined
      ? { index: 'by_organization', equals: [] }
      : { index: 'by_status', equals: [status] }
  return status === undefined
    ? { index: 'by_datastore', equals: [datastoreId] }
    : { index: 'by_datastore_and_status', equals: [datastoreId, status] }
}

type Place = { organizationId: string; datastoreId: string; status?: UploadView['status'] }

/** Every upload of a DataStore that is not removed, the oldest first. */
export const findUploads =
  ({ uploads }: { uploads: View<UploadView> }) =>
  async ({ organizationId, ...filter }: Place): Promise<UploadView[]> => {
    const { index, equals } = indexFor(filter)
    const of = { index, equals: [organizationId, ...equals, true] }
    const all: UploadView[] = []
    for await (const some of readInOrder(uploads, of)) all.push(...some)
    return all
  }
export type FindUploads = ReturnType<typeof findUploads>
