/** 1-indexed pages, as the document's lists have them. */
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
 * The page that holds what fits, where not all of a page's items do: a smaller page that begins at
 * the same item, so that going on by its number and size misses nothing.
 */
export const fittedPage = (asked: Page, found: number, fitting: number): Page => {
  if (fitting >= found) return asked
  let pageSize = fitting
  while (skipTo(asked) % pageSize !== 0) pageSize--
  return { page: skipTo(asked) / pageSize + 1, pageSize }
}
