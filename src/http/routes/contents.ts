import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { RetryContentCommand } from '../../../commands/retry-content.ts'
import { contentView } from '../../../projections/contents.ts'
import type { GetContent } from '../../../queries/get-content.ts'
import type { ListContents } from '../../../queries/list-contents.ts'
import type { RequireSubscription } from '../../turns/begin/require-subscription.ts'
import type { StorageQuotas } from '../../turns/begin/storage-quotas.ts'
import { refusals } from '../errors/responses.ts'
import { integer, page, pathId } from '../wire/fields.ts'
import type { FileLinks } from '../wire/file-links.ts'
import { queryOnBehalfOf } from '../wire/on-behalf-of.ts'

type Uses = {
  listContents: ListContents
  getContent: GetContent
  retryContent: RetryContentCommand
  requireSubscription: RequireSubscription
  quotas: Pick<StorageQuotas, 'require'>
  linksOf: FileLinks
}

const params = z.object({ content_id: pathId })

const list = z.object({
  page,
  page_size: integer(1, 100).default(20),
  content_type: contentView.shape.content_type.unwrap().optional(),
  status: contentView.shape.status.optional(),
  ...queryOnBehalfOf.shape,
})

const item = z.object({
  ...contentView.pick({ id: true, content_type: true, status: true }).shape,
  prompt: z.string(),
  ...contentView.pick({ provider_version: true, output_url: true }).shape,
  storage_url: z.string().nullable(),
  ...contentView.pick({ error_message: true, processing_time_ms: true }).shape,
  credit_cost: z.number(),
  ...contentView.pick({ created_at: true, completed_at: true }).shape,
})

const detail = z.object({
  ...item.shape,
  ...contentView.pick({ organization_id: true, user_id: true }).shape,
  provider_prediction_id: contentView.shape.provider_prediction_id,
  provider_input: z.record(z.string(), z.unknown()),
  storage_path: contentView.shape.hash,
  ...contentView.pick({ retry_count: true, max_retries: true, started_at: true }).shape,
})

/** Generated content (docs/contract/content.md#reading-content). */
export const contentRoutes =
  (uses: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const { linksOf, listContents, getContent, retryContent, requireSubscription } = uses
    const reads = { scopes: ['content:read'], delegates: 'query' } as const
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
        const { page, page_size, content_type: contentType, status } = request.query
        const { viewer } = request.delegated
        const { organizationId } = request.access
        return listContents({
          organizationId,
          viewer,
          contentType,
          status,
          page: { page, pageSize: page_size },
          linkOf: linksOf(request),
        })
      },
    )

    http.get(
      '/content/:content_id',
      {
        config: reads,
        schema: {
          tags,
          summary: 'Get one generated item with its details',
          params,
          querystring: queryOnBehalfOf,
          response: {
            200: detail,
            ...refusals('detail', 'content_not_found', 'user_not_found', 'delegation_not_allowed'),
          },
        },
      },
      async (request) => {
        const { viewer } = request.delegated
        return getContent({
          organizationId: request.access.organizationId,
          viewer,
          contentId: request.params.content_id,
          linkOf: linksOf(request),
        })
      },
    )

    http.post(
      '/content/:content_id/retry',
      {
        config: { scopes: ['content:retry'], delegates: 'query' },
        schema: {
          tags,
          summary: 'Retry a failed item',
          params,
          querystring: queryOnBehalfOf,
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
              'storage_quota_exceeded',
              'user_not_found',
              'delegation_not_allowed',
              'idempotency_key_reused',
            ),
          },
        },
      },
      async (request) => {
        const { call, viewer } = request.delegated
        const payerId = await requireSubscription(request.access)
        await uses.quotas.require(request.access)
        const contentId = request.params.content_id
        const queued = await retryContent({ contentId, viewer, payerId }, call)
        const { attempt, maxRetries } = queued
        return {
          success: true,
          message: `Retry queued (attempt ${attempt} of ${maxRetries})`,
          generation_id: contentId,
        }
      },
    )
  }
