import type { preValidationHookHandler } from 'fastify'
import { requireFor } from './authenticate.ts'

type Sent = { stream?: unknown; on_behalf_of?: unknown }

/**
 * Scopes of a turn that depend on the body; checked before the body is validated
 * (docs/contract/requests.md#scopes).
 */
export const requireTurnScopes: preValidationHookHandler = (request, _reply, done) => {
  const { stream, on_behalf_of } = (request.body ?? {}) as Sent
  try {
    requireFor(request, [
      'orchestrator:invoke',
      ...(stream === true ? ['orchestrator:stream'] : []),
      ...(on_behalf_of ? ['users:delegate'] : []),
    ])
    done()
  } catch (error) {
    done(error as Error)
  }
}
