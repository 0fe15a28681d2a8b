import type { Find, View } from '../src/ports/views.ts'

const firstLimit = 500

/**
 * Every document of a query, from one answer. Pages of several answers can miss or repeat documents
 * when others change in between. So if the limit is too small, the query starts over with a larger
 * one.
 */
export const findAll = async <Doc>(
  view: Pick<View<Doc>, 'find'>,
  query: Omit<Find, 'skip' | 'limit'>,
): Promise<Doc[]> => {
  for (let limit = firstLimit; ; limit *= 8) {
    const { items } = await view.find({ ...query, limit })
    if (items.length < limit) return items
  }
}
