import type { FastifyInstance, RouteHandlerMethod } from 'fastify'
import { refusal } from '../../domain/refusal.ts'
import { replyWith } from './reply.ts'

/** What OpenAI has beside `responses/{id}`, and is not offered here: no id is one of these. */
const notOffered: ReadonlySet<string> = new Set([
  '/api/external/v1/responses/compact',
  '/api/external/v1/responses/input_tokens',
])

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/**
 * Remembers every path, to tell an unknown path (404) from an unknown method on one (405). A socket
 * where none is offered is unknown, too.
 */
export const unknownRoute = (http: FastifyInstance): RouteHandlerMethod => {
  const patterns = new Map<string, RegExp>()
  http.addHook('onRoute', ({ url }) => {
    const pattern = url.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/:[^/]+/g, '[^/]+')
    patterns.set(url, new RegExp(`^${pattern.replace(/\*/g, '.*')}/?$`))
  })
  const methodsOf = (path: string): string[] =>
    [...patterns]
      .filter(([, pattern]) => pattern.test(path))
      .flatMap(([url]) => methods.filter((method) => http.hasRoute({ method, url })))

  return (request, reply) => {
    const path = request.url.replace(/\/?(?:\?.*)?$/s, '')
    // Upgrades that are not taken come without their header.
    const isSocket = request.headers['sec-websocket-key'] !== undefined
    const allowed = notOffered.has(path) || isSocket ? [] : methodsOf(path)
    if (allowed.length === 0 || allowed.includes(request.method))
      return replyWith(request, reply, refusal('not_found'))
    reply.header('allow', [...new Set(allowed)].join(', '))
    return replyWith(request, reply, refusal('method_not_allowed'))
  }
}
