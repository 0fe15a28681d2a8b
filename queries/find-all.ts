import type { Find, View } from '../src/ports/views.ts'

const firstLimit = 500

/**
 * Every document that a query finds, from one answer. Pages from several answers can miss a document
 * or have one twice, as others come and go in between; so a larger answer starts from the beginning.
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
