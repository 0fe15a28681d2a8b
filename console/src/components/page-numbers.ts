import type { Paging } from './data-table.tsx'

type NumberedPages = { page: number; hasNext: boolean; onPage: (page: number | undefined) => void }

/**
 * Next and previous page of a list whose page number is in the address, where 1 is left out;
 * undefined where one page has all.
 */
export const numberedPages = ({ page, hasNext, onPage }: NumberedPages): Paging | undefined =>
  page > 1 || hasNext
    ? {
        page,
        first: page > 1 ? () => onPage(undefined) : undefined,
        previous: page > 1 ? () => onPage(page > 2 ? page - 1 : undefined) : undefined,
        next: hasNext ? () => onPage(page + 1) : undefined,
      }
    : undefined
