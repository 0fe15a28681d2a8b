import type { ContentView } from '../projections/contents.ts'
import type { Sealed } from '../src/domain/sealed.ts'
import type { Viewer } from '../src/domain/session/viewer.ts'
import type { View } from '../src/ports/views.ts'
import { type LinkOf, shownContent } from './get-content.ts'
import { type Page, skipTo } from './page.ts'

type Uses = {
  contents: View<ContentView>
  open(text: Sealed): string | undefined | Promise<string | undefined>
}

type Ask = {
  organizationId: string
  viewer: Viewer
  contentType?: Exclude<ContentView['content_type'], null> | undefined
  status?: ContentView['status'] | undefined
  page: Page
  linkOf: LinkOf
}

/** How much of a prompt a list shows. */
const shownPrompt = 200

/** The viewer's generated content, the newest first (GET /api/external/content). */
export const listContents =
  ({ contents, open }: Uses) =>
  async ({ organizationId, viewer, contentType, status, page, linkOf }: Ask) => {
    const { userId, onlyKeyId } = viewer
    const filters = `${contentType ? '_type' : ''}${status ? '_status' : ''}`
    const { items, total } = await contents.find({
      index: `${onlyKeyId ? 'by_key' : 'by_user'}${filters}`,
      equals: [
        organizationId,
        userId,
        ...(onlyKeyId ? [onlyKeyId] : []),
        ...(contentType ? [contentType] : []),
        ...(status ? [status] : []),
      ],
      descending: true,
      skip: skipTo(page),
      limit: page.pageSize,
    })
    const shown = items.map(async (item) => {
      const prompt = (await open(item.prompt)) ?? ''
      const short = prompt.length > shownPrompt ? `${prompt.slice(0, shownPrompt)}…` : prompt
      return shownContent(item, short, linkOf)
    })
    return {
      items: await Promise.all(shown),
      total,
      page: page.page,
      page_size: page.pageSize,
      has_more: page.page * page.pageSize < total,
    }
  }
export type ListContents = ReturnType<typeof listContents>
