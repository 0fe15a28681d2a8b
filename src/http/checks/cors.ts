import cors from '@fastify/cors'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** Headers of answers that scripts of other origins may read. */
const exposedHeaders = [
  'x-request-id',
  'x-error-code',
  'x-should-retry',
  'retry-after',
  'idempotency-replayed',
  ...['limit', 'remaining', 'reset'].flatMap((what) =>
    ['', '-minute', '-hour'].map((window) => `x-ratelimit-${what}${window}`),
  ),
]

/** How long a browser may keep the answer to a preflight, in seconds. */
const maxAge = 600

const fixed = {
  exposedHeaders,
  maxAge,
  methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
  // An OPTIONS request that is no preflight is answered like one, not with a body of another shape.
  strictPreflight: false,
}

/** Pages for people (/connect, /docs) are not for scripts of other origins. */
const forScripts = /^\/(?:api|files)\//

/**
 * Lets web pages of these origins call the API (docs/contract/authentication.md#web-pages).
 * Preflights need no key. Without origins, no headers are added.
 */
export const allowOrigins = async (
  http: FastifyInstance,
  origins: readonly string[],
): Promise<void> => {
  if (origins.length === 0) return
  const allowed = new Set(origins)
  const any = allowed.has('*')
  const isAllowed = ({ url, headers: { origin } }: FastifyRequest): boolean =>
    forScripts.test(url) && origin !== undefined && (any || allowed.has(origin))
  await http.register(cors, {
    delegator: (request, done) =>
      done(null, { ...fixed, origin: isAllowed(request) ? [request.headers.origin ?? ''] : false }),
  })
}
