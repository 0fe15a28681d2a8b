import type { ContentView } from '../projections/contents.ts'
import { inCredits } from '../projections/fields.ts'
import { refusal } from '../src/domain/refusal.ts'
import type { Sealed } from '../src/domain/sealed.ts'
import { isOwn, type Viewer } from '../src/domain/session/viewer.ts'
import type { View } from '../src/ports/views.ts'

type Uses = {
  contents: View<ContentView>
  open(text: Sealed): string | undefined | Promise<string | undefined>
}

/** A signed link to the stored bytes of an item. */
export type LinkOf = (contentId: string) => string

type Query = { organizationId: string; viewer: Viewer; contentId: string; linkOf: LinkOf }

/** The documented list item. */
export const contentAnswer = (view: ContentView, prompt: string, linkOf: LinkOf) => ({
  id: view.id,
  content_type: view.content_type,
  status: view.status,
  prompt,
  provider_version: view.provider_version,
  output_url: view.output_url,
  storage_url: view.hash && view.status === 'completed' ? linkOf(view.id) : null,
  error_message: view.error_message,
  processing_time_ms: view.processing_time_ms,
  credit_cost: inCredits(view.charge),
  created_at: view.created_at,
  completed_at: view.completed_at,
})

/**
 * One item with its detail fields (GET /api/external/content/{content_id}).
 * @throws content_not_found
 */
export const getContent =
  ({ contents, open }: Uses) =>
  async ({ organizationId, viewer, contentId, linkOf }: Query) => {
    const view = await contents.get(contentId)
    const own = view && isOwn(viewer, { ownerId: view.user_id, keyId: view.key_id })
    if (!own || view.organization_id !== organizationId) throw refusal('content_not_found')
    const input = await open(view.input)
    return {
      ...contentAnswer(view, (await open(view.prompt)) ?? '', linkOf),
      organization_id: view.organization_id,
      user_id: view.user_id,
      provider_prediction_id: view.provider_prediction_id,
      provider_input: input === undefined ? {} : (JSON.parse(input) as Record<string, unknown>),
      storage_path: view.hash,
      retry_count: view.retry_count,
      max_retries: view.max_retries,
      started_at: view.started_at,
    }
  }
export type GetContent = ReturnType<typeof getContent>
