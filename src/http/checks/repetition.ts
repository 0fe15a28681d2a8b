import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerOf } from '../../security/access.ts'
import type { Repetition } from '../../turns/begin/find-earlier-turn.ts'
import type { RequestContent, UnkeyedRequest } from '../../turns/begin/retries.ts'

const header = 'x-stainless-retry-count'

type Answering = {
  /** Streamed, or in the background. */
  early: boolean
  /** The client wants the turn cancelled when it disconnects. */
  cancels?: boolean
}

const unkeyedRequestOf = (
  { headers }: FastifyRequest,
  { raw }: FastifyReply,
  { early, cancels = false }: Answering,
): UnkeyedRequest => ({
  isRetry: Number(headers[header]) >= 1,
  early,
  isClosed: () => raw.closed,
  onClosed(closed) {
    // A turn cancelled by its client's disconnect cannot be claimed.
    const notify = () => closed(raw.headersSent ? raw.statusCode < 500 : cancels)
    if (raw.closed) notify()
    else raw.once('close', notify)
  },
})

/** Apart from `UnkeyedRequest`, which outlives the body: it lives as long as the answer. */
const contentOf = ({ access, url, bodyIdentity }: FastifyRequest): RequestContent => ({
  key: callerOf(access),
  url,
  body: bodyIdentity,
})

/** How a request may repeat another: by its idempotency key, else as one of several requests. */
export const repetitionOf = (
  request: FastifyRequest,
  reply: FastifyReply,
  answering: Answering,
): Repetition => {
  const { heldIdempotencyKey, streamedRun: runId, onRepeated, hasWaited } = request
  if (!heldIdempotencyKey && !runId) {
    const unkeyed = unkeyedRequestOf(request, reply, answering)
    return { kind: 'unkeyed', request: unkeyed, content: contentOf(request) }
  }
  return { kind: 'keyed', runId, askAgain: !hasWaited, onRepeated }
}
