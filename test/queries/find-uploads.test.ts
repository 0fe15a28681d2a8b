import t from 'tap'
import type { UploadView } from '../../projections/uploads.ts'
import { findUploads, indexFor } from '../../queries/find-uploads.ts'
import type { Find, View } from '../../src/ports/views.ts'

for (const [filter, index, equals] of [
  [{}, 'by_organization', []],
  [{ status: 'failed' }, 'by_status', ['failed']],
  [{ datastoreId: 'd-1' }, 'by_datastore', ['d-1']],
  [{ status: 'failed', datastoreId: 'd-1' }, 'by_datastore_and_status', ['d-1', 'failed']],
] as const)
  t.test(
    `a filter by ${Object.keys(filter).join(' and ') || 'nothing'} has its index`,
    async (t) => {
      t.strictSame(indexFor(filter), { index, equals })
    },
  )

t.test('all uploads of a DataStore that are not removed are found', async (t) => {
  const uploads = [{ upload_id: 'u-1' }, { upload_id: 'u-2' }] as UploadView[]
  const queries: Find[] = []
  const view = {
    find: async (query: Find) => {
      queries.push(query)
      return { items: uploads.slice(query.skip ?? 0), total: uploads.length }
    },
  } as unknown as View<UploadView>
  const place = { organizationId: 'org-1', datastoreId: 'd-1' }
  t.strictSame(await findUploads({ uploads: view })(place), uploads)
  t.match(queries[0], { index: 'by_datastore', equals: ['org-1', 'd-1', true] })
})
