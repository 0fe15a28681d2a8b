import type { Call } from '../../ports/call.ts'
import type { Access } from '../../security/access.ts'

/** What a route says about itself; the checks of docs/contract/requests.md#order-of-checks read it. */
export type RouteRules = {
  /** Scopes the key needs. */
  scopes?: readonly string[]
  /** The shape of refusals that have none of their own. */
  group?: 'chat' | 'agents' | 'detail' | 'management' | 'rag' | 'admin'
  /** Needs an owner or admin of the organization (or the platform key). */
  managers?: true
  /** Answers with an event stream, always or when the body asks for one. */
  streams?: 'always' | 'asked'
  /** Answers with one JSON document a line (application/x-ndjson) when the client accepts that. */
  lines?: true
  /** Goes on as long as the client likes: counted as a request, but not among those at once. */
  lasting?: true
  /** Only a user key: the act is a person's, not an application's. */
  userKey?: true
  /** Only the platform key. */
  platform?: true
}

declare module 'fastify' {
  interface FastifyContextConfig extends RouteRules {}
  interface FastifyRequest {
    /** Who asks, for the events that follow. */
    call: Call
    access: Access
  }
}
