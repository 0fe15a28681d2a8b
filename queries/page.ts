/** Pages of lists, as in docs/contract/limits.md#pages: the first is 1. */
export type Page = { page: number; pageSize: number }

export const skipTo = ({ page, pageSize }: Page): number => (page - 1) * pageSize

/** The paging fields of a list answer. */
export const paging = (total: number, { page, pageSize }: Page) => ({
  total,
  page,
  page_size: pageSize,
  has_next: page * pageSize < total,
})

/**
 * The page for the items that fit into an answer. If fewer fit than were read, a smaller page that
 * begins at the same item: clients continue by its number and size without missing an item.
 */
export const fittedPage = (requested: Page, count: number, fitting: number): Page => {
  if (fitting >= count) return requested
  let pageSize = fitting
  while (skipTo(requested) % pageSize !== 0) pageSize--
  return { page: skipTo(requested) / pageSize + 1, pageSize }
}
