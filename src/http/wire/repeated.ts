import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Repeated } from '../../turns/repeats.ts'

const header = 'x-stainless-retry-count'

/** What is to be known of a request that a stock SDK may repeat; nothing of any other client's. */
export const repeatedOf = (request: FastifyRequest): Repeated => {
  const { access, rawBody, url, headers, streamedRun: run } = request
  const attempt = headers[header]
  if (attempt === undefined) return { run }
  const fingerprint = createHash('sha256')
    .update(`${access.keyId}\n${access.organizationId}\n${url}\n`)
    .update(rawBody ?? '')
    .digest('base64url')
  return { run, fingerprint, retried: Number(attempt) >= 1 }
}
