import type { FastifyPluginAsync } from 'fastify'
import { refusal } from '../../domain/refusal.ts'

/** GET /: leads a browser to the console. For others there is nothing here. */
export const homeRoutes: FastifyPluginAsync = async (http) => {
  http.get('/', { schema: { hide: true } }, async ({ headers }, reply) => {
    if (!headers.accept?.includes('text/html')) throw refusal('not_found')
    return reply.redirect('/console/')
  })
}
