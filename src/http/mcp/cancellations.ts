import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { callerOf } from '../../security/access.ts'

const notification = z.object({
  method: z.literal('notifications/cancelled'),
  params: z.object({ requestId: z.union([z.string(), z.number()]) }),
})

const saneSession = /^[\x21-\x7e]{1,128}$/

type CallId = string | number

/**
 * The calls of this process that clients of 2025-11-25 can cancel: such a client does it with a
 * request of its own. Nothing is kept for a client that has no call under way.
 */
export const cancellations = () => {
  const running = new Map<string, () => void>()

  /** Ids of calls are unique in a session; a session belongs to the key that it was begun with. */
  const placeOf = ({ headers, access }: FastifyRequest, id: CallId): string | undefined => {
    const session = headers['mcp-session-id']
    if (typeof session !== 'string' || !saneSession.test(session)) return undefined
    return JSON.stringify([callerOf(access), access.organizationId, session, id])
  }

  return {
    /** A call that can be cancelled from now on. Answers what ends that. */
    began(request: FastifyRequest, id: CallId, cancel: () => void): () => void {
      const place = placeOf(request, id)
      if (place === undefined) return () => undefined
      running.set(place, cancel)
      return () => {
        if (running.get(place) === cancel) running.delete(place)
      }
    },
    /** Cancels the call that a notification names. */
    see(request: FastifyRequest): void {
      const { data } = notification.safeParse(request.body)
      const place = data && placeOf(request, data.params.requestId)
      if (place !== undefined) running.get(place)?.()
    },
  }
}
export type Cancellations = ReturnType<typeof cancellations>
