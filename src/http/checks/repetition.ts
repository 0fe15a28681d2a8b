import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Repetition } from '../../turns/repeated-requests.ts'

const header = 'x-stainless-retry-count'

/** Whether a request repeats an earlier one. */
export const repetitionOf = (request: FastifyRequest): Repetition => {
  const { access, rawBody, url, headers, streamedRun: run, onRepeated } = request
  const attempt = headers[header]
  const fingerprint = createHash('sha256')
    .update(`${access.keyId}\n${access.organizationId}\n${url}\n`)
    .update(rawBody ?? '')
    .digest('base64url')
  const repetition: Repetition = {
    run,
    fingerprint,
    counts: attempt !== undefined,
    retried: Number(attempt) >= 1,
  }
  if (onRepeated) repetition.onRepeated = onRepeated
  return repetition
}
