import type { Find, View } from '../src/ports/views.ts'

const pageSize = 500

/**
 * What a query finds, page by page. What comes or goes meanwhile may be missed or come twice: for
 * recurring work.
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
