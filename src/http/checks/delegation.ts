import type { FastifyInstance, preHandlerAsyncHookHandler } from 'fastify'
import type { Delegate, Delegated } from '../../security/delegate.ts'
import type { OnBehalfOf } from '../wire/on-behalf-of.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on routes with the rule `delegates`: the call, and the user whose sessions it sees. */
    delegated: Delegated
  }
}

/**
 * `on_behalf_of` on routes with the rule `delegates`, after the validation and before the handler
 * (docs/contract/requests.md#order-of-checks). Turns check it themselves, also those of sockets.
 */
export const delegation = (http: FastifyInstance, delegate: Delegate): void => {
  http.decorateRequest('delegated')
  http.addHook('onRoute', (route) => {
    const { delegates } = route.config ?? {}
    if (!delegates) return
    const check: preHandlerAsyncHookHandler = async (request) => {
      const parsed = request[delegates] as OnBehalfOf | null | undefined
      request.delegated = await delegate(request, parsed?.on_behalf_of)
    }
    route.preHandler = [...[route.preHandler ?? []].flat(), check]
  })
}
