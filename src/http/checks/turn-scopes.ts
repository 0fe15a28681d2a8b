import type { preValidationHookHandler } from 'fastify'
import { requireFor } from './authenticate.ts'

type Sent = { stream?: unknown; on_behalf_of?: unknown }

const invoke = ['orchestrator:invoke']
const stream = [...invoke, 'orchestrator:stream']
const delegate = 'users:delegate'

const scopesOf = (body: Sent | null | undefined): readonly string[] => {
  const scopes = body?.stream === true ? stream : invoke
  return body?.on_behalf_of ? [...scopes, delegate] : scopes
}

/**
 * Scopes of a turn that depend on the body; checked before the body is validated
 * (docs/contract/authentication.md#scopes).
 */
export const requireTurnScopes: preValidationHookHandler = (request, _reply, done) => {
  requireFor(request, scopesOf(request.body as Sent | null | undefined))
  done()
}
