import type { ContentView } from '../projections/contents.ts'
import type { View } from '../src/ports/views.ts'

/** The stored bytes of a completed item and their data key, for a signed link. */
export const findContentFile =
  ({ contents }: { contents: View<ContentView> }) =>
  async (contentId: string) => {
    const view = await contents.get(contentId)
    if (!view?.hash || !view.media_type || view.status !== 'completed') return undefined
    const { hash, media_type: mediaType, prompt } = view
    const download = view.content_type === 'glb' ? { download: `${contentId}.glb` } : {}
    return { hash, mediaType, key: prompt.$sealed, ...download }
  }
export type FindContentFile = ReturnType<typeof findContentFile>
