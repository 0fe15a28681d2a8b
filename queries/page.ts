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
