import type { FastifyRequest } from 'fastify'
import type { Call } from '../../ports/call.ts'
import type { Access } from '../../security/access.ts'

/** The rules of a route, for the checks (docs/contract/requests.md#order-of-checks). */
export type RouteRules = {
  /** Scopes the key needs. */
  scopes?: readonly string[]
  /** The route group, which decides the shape of refusals that have none of their own. */
  group?: 'chat' | 'agents' | 'detail' | 'management' | 'rag' | 'admin'
  /**
   * Needs an owner or admin of the organization (or the platform key). Others are refused with
   * `role_required`, or with the code named here.
   */
  managers?: true | 'organization_access_denied'
  /** `on_behalf_of` in the query or the body names the user acted for: `request.delegated`. */
  delegates?: 'query' | 'body'
  /** Answers with an event stream, always or when the body asks for one. */
  streams?: 'always' | 'asked'
  /** Answers with one JSON document a line (application/x-ndjson) when the client accepts that. */
  lines?: true
  /** Answers with a table (text/csv) when the client accepts that. */
  rows?: true
  /**
   * The media type of an answer that is neither JSON nor a stream; `any`: whatever is accepted.
   */
  answers?: 'text/plain' | 'application/x-ndjson' | 'application/octet-stream' | 'any'
  /** The most values of JSON that a body has; default 2,000. */
  mostValues?: number
  /** An answer without an end: it counts as a request, but not as a concurrent one. */
  lasting?: true
  /** Does not count in the windows of rate limits, but as a concurrent request. */
  uncounted?: true
  /** Concerns only the calling user, in no organization: the key's scopes count, not the role. */
  own?: true
  /** Not an organization key: a person acts, not an application. */
  userKey?: true
  /** Only the platform key. */
  platform?: true
}

declare module 'fastify' {
  interface FastifyContextConfig extends RouteRules {}
  interface FastifyRequest {
    /** Who asks, for the metadata of events. */
    call: Call
    access: Access
    /** The scopes that were required of it. */
    needed: readonly string[]
  }
}

/** The path pattern of a request's route, without its parameters' values. */
export const routeOf = ({ routeOptions }: FastifyRequest): string => routeOptions.url ?? 'unknown'
