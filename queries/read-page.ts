import type { Find, View } from '../src/ports/views.ts'
import { firstPart, type Sized } from '../src/support/in-parts.ts'
import { pageBytes } from './opened.ts'
import { fittedPage, type Page, paging, skipTo } from './page.ts'

/**
 * A page of a list, with the documents that fit its bounds, both as stored and as shown
 * (docs/contract/limits.md#pages).
 */
export const readPage = async <Doc, Item>(
  view: Pick<View<Doc>, 'find'>,
  of: Omit<Find, 'skip' | 'limit' | 'bytes'>,
  page: Page,
  show: (document: Doc) => Sized<Item> | Promise<Sized<Item>>,
) => {
  const skip = skipTo(page)
  const query = { ...of, skip, limit: page.pageSize, bytes: pageBytes }
  const { items, total, cut } = await view.find(query)
  const onPage = cut ? Math.min(page.pageSize, total - skip) : items.length
  const fitting = await firstPart(items, async (document) => show(document), pageBytes)
  const fitted = fittedPage(page, onPage, fitting.length)
  return { items: fitting.slice(0, fitted.pageSize), paging: paging(total, fitted) }
}
