import type { ContentView } from '../projections/contents.ts'
import type { Sealed } from '../src/domain/sealed.ts'
import type { Viewer } from '../src/domain/session/viewer.ts'
import type { View } from '../src/ports/views.ts'
import { cutText } from '../src/support/cut-text.ts'
import { contentAnswer, type LinkOf } from './get-content.ts'
import type { Page } from './page.ts'
import { readPage } from './read-page.ts'

type Uses = {
  contents: View<ContentView>
  open(text: Sealed): string | undefined | Promise<string | undefined>
}

type Query = {
  organizationId: string
  viewer: Viewer
  contentType?: Exclude<ContentView['content_type'], null> | undefined
  status?: ContentView['status'] | undefined
  page: Page
  linkOf: LinkOf
}

/** How much of a prompt a list shows. */
const promptLength = 200

/** The viewer's generated content, the newest first (GET /api/external/content). */
export const listContents =
  ({ contents, open }: Uses) =>
  async ({ organizationId, viewer, contentType, status, page, linkOf }: Query) => {
    const { userId, onlyKeyId } = viewer
    const filters = `${contentType ? '_type' : ''}${status ? '_status' : ''}`
    const of = {
      index: `${onlyKeyId ? 'by_key' : 'by_user'}${filters}`,
      equals: [
        organizationId,
        userId,
        ...(onlyKeyId ? [onlyKeyId] : []),
        ...(contentType ? [contentType] : []),
        ...(status ? [status] : []),
      ],
      descending: true,
    }
    // The size of opened documents counts, not of the shown part.
    const show = async (item: ContentView) => {
      const prompt = (await open(item.prompt)) ?? ''
      const short = prompt.length > promptLength ? `${cutText(prompt, promptLength)}…` : prompt
      return { value: contentAnswer(item, short, linkOf), bytes: prompt.length }
    }
    const { items, paging } = await readPage(contents, of, page, show)
    const { has_next: has_more, ...at } = paging
    return { items, ...at, has_more }
  }
export type ListContents = ReturnType<typeof listContents>
