import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { RetryContentCommand } from '../../../commands/retry-content.ts'
import type { GetContent } from '../../../queries/get-content.ts'
import type { ListContents } from '../../../queries/list-contents.ts'
import type { WaitForPosition } from '../../ports/views.ts'
import type { Delegate } from '../../security/delegate.ts'
import type { RequireSubscription } from '../../turns/require-subscription.ts'
import { refusals } from '../errors/responses.ts'
import { integer } from '../wire/common.ts'
import type { SignedLinks } from '../wire/signed-links.ts'

type Uses = {
  listContents: ListContents
  getContent: GetContent
  retryContent: RetryContentCommand
  delegate: Delegate
  requireSubscription: RequireSubscription
  waitForPosition: WaitForPosition
  links: SignedLinks
  /** The base of links; undefined: where the request came in. */
  publicUrl: string | undefined
}

const types = ['image', 'video', 'audio', 'glb', 'other'] as const
const statuses = ['pending', 'processing', 'completed', 'failed'] as const
const on_behalf_of = z.string().min(1).optional()
const params = z.object({ content_id: z.string().min(1).max(64) })

const list = z.object({
  page: integer(1, 1_000_000).default(1),
  page_size: integer(1, 100).default(20),
  content_type: z.enum(types).optional(),
  status: z.enum(statuses).optional(),
  on_behalf_of,
})

const item = z.object({
  id: z.string(),
  content_type: z.enum(types).nullable(),
  status: z.enum(statuses),
  prompt: z.string(),
  provider_version: z.string(),
  output_url: z.string().nullable(),
  storage_url: z.string().nullable(),
  error_message: z.string().nullable(),
  processing_time_ms: z.int().nullable(),
  credit_cost: z.number(),
  created_at: z.iso.datetime(),
  completed_at: z.iso.datetime().nullable(),
})

const detail = item.extend({
  organization_id: z.string(),
  user_id: z.string(),
  provider_prediction_id: z.string().nullable(),
  provider_input: z.record(z.string(), z.unknown()),
  storage_path: z.string().nullable(),
  retry_count: z.int(),
  max_retries: z.int(),
  started_at: z.iso.datetime().nullable(),
})

/** Generated content (docs/contract/content.md#reading-content). */
export const contentRoutes =
  (uses: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const linksFor = ({ protocol, host }: FastifyRequest) => {
      const base = uses.publicUrl ?? `${protocol}://${host}`
      return (id: string) => `${base}/files/${id}?${uses.links.queryFor('file', id)}`
    }
    const {
      listContents,
      getContent,
      retryContent,
      delegate,
      requireSubscription,
      waitForPosition,
    } = uses
    const reads = { scopes: ['content:read'] }
    const tags = ['content']

    http.get(
      '/content',
      {
        config: reads,
        schema: {
          tags,
          summary: 'List generated content, the newest first',
          querystring: list,
          response: {
            200: z.object({
              items: z.array(item),
              total: z.int(),
              page: z.int(),
              page_size: z.int(),
              has_more: z.boolean(),
            }),
            ...refusals('detail', 'invalid_filter', 'user_not_found', 'delegation_not_allowed'),
          },
        },
      },
      async (request) => {
        const { page, page_size, content_type: contentType, status, ...query } = request.query
        const { viewer } = await delegate(request, query.on_behalf_of)
        const { organizationId } = request.access
        const asked = { page, pageSize: page_size }
        return listContents({
          organizationId,
          viewer,
          contentType,
          status,
          page: asked,
          linkOf: linksFor(request),
        })
      },
    )

    http.get(
      '/content/:content_id',
      {
        config: reads,
        schema: {
          tags,
          summary: 'One generated item with its details',
          params,
          querystring: z.object({ on_behalf_of }),
          response: {
            200: detail,
            ...refusals('detail', 'content_not_found', 'user_not_found', 'delegation_not_allowed'),
          },
        },
      },
      async (request) => {
        const { viewer } = await delegate(request, request.query.on_behalf_of)
        return getContent({
          organizationId: request.access.organizationId,
          viewer,
          contentId: request.params.content_id,
          linkOf: linksFor(request),
        })
      },
    )

    http.post(
      '/content/:content_id/retry',
      {
        config: { scopes: ['content:retry'] },
        schema: {
          tags,
          summary: 'Queue a failed item again',
          params,
          querystring: z.object({ on_behalf_of }),
          response: {
            200: z.object({
              success: z.boolean(),
              message: z.string(),
              generation_id: z.string(),
            }),
            ...refusals(
              'detail',
              'content_not_found',
              'content_not_failed',
              'max_retries_reached',
              'no_subscription',
              'invalid_plan',
              'insufficient_credits',
              'user_not_found',
              'delegation_not_allowed',
              'idempotency_key_reused',
            ),
          },
        },
      },
      async (request) => {
        const { call, viewer } = await delegate(request, request.query.on_behalf_of)
        const payerId = await requireSubscription(request.access)
        const contentId = request.params.content_id
        const queued = await retryContent({ contentId, viewer, payerId }, call)
        await waitForPosition(queued.position)
        const { attempt, maxRetries } = queued
        return {
          success: true,
          message: `Retry queued (attempt ${attempt} of ${maxRetries})`,
          generation_id: contentId,
        }
      },
    )
  }
