import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { refusal } from '../../domain/refusal.ts'
import type { SignedLinks } from '../../security/signed-links.ts'
import { pathId } from '../wire/fields.ts'
import { linkProof } from '../wire/file-links.ts'

type Uses = {
  links: SignedLinks
  /** Polls a generation now. */
  wake(contentId: string): void
}

const params = z.object({ content_id: pathId })

/**
 * Where a generation provider reports that a generation has ended. The provider is then asked for
 * the result.
 */
export const contentWebhookRoutes =
  ({ links, wake }: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    http.post(
      '/webhooks/content/:content_id',
      { schema: { hide: true, params, querystring: linkProof } },
      async (request, reply) => {
        const { expires, signature } = request.query
        const id = request.params.content_id
        if (!links.isValid('webhook', id, expires, signature)) throw refusal('file_link_invalid')
        wake(id)
        return reply.code(204).send()
      },
    )
  }
