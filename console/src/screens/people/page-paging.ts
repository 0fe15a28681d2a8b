import type { Paging } from '../../components/data-table.tsx'

/** Pages by number: the page is in the address. */
export const pagePaging = (
  page: number,
  hasNext: boolean | undefined,
  onPage: (page: number | undefined) => void,
): Paging => ({
  page,
  first: page > 1 ? () => onPage(undefined) : undefined,
  previous: page > 1 ? () => onPage(page > 2 ? page - 1 : undefined) : undefined,
  next: hasNext ? () => onPage(page + 1) : undefined,
})
