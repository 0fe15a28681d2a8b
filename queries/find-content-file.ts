import type { ContentView } from '../projections/contents.ts'
import type { View } from '../src/ports/views.ts'

/** The stored bytes of a completed item, and the data key that seals them, for a signed link to it. */
export const findContentFile = (contents: View<ContentView>) => async (contentId: string) => {
  const view = await contents.get(contentId)
  if (!view?.hash || !view.media_type || view.status !== 'completed') return undefined
  return { hash: view.hash, mediaType: view.media_type, key: view.prompt.$sealed }
}
export type FindContentFile = ReturnType<typeof findContentFile>
