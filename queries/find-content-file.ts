import type { ContentView } from '../projections/contents.ts'
import type { View } from '../src/ports/views.ts'

/** The stored bytes of a completed item, for a signed link to it. */
export const findContentFile = (contents: View<ContentView>) => async (contentId: string) => {
  const view = await contents.get(contentId)
  if (!view?.hash || !view.media_type || view.status !== 'completed') return undefined
  return { hash: view.hash, mediaType: view.media_type }
}
export type FindContentFile = ReturnType<typeof findContentFile>
