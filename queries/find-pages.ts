import type { Find, View } from '../src/ports/views.ts'

const pageSize = 500

/**
 * All documents of a query, page by page. Documents that are added or removed meanwhile may be
 * missed or returned twice, which recurring work tolerates.
 */
export async function* findPages<Doc>(
  view: Pick<View<Doc>, 'find'>,
  query: Omit<Find, 'skip' | 'limit'>,
): AsyncGenerator<readonly Doc[]> {
  for (let skip = 0; ; skip += pageSize) {
    const { items } = await view.find({ ...query, skip, limit: pageSize })
    yield items
    if (items.length < pageSize) return
  }
}
