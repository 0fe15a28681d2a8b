import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import { refusal } from '../../domain/refusal.ts'
import { rootCall } from '../../ports/call.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Access, FindAccess } from '../../security/access.ts'
import { requireScopes } from '../../security/scopes.ts'
import type { RouteRules } from '../server/route-rules.ts'
import { traceIn } from '../server/trace-requests.ts'
import { consoleTokenOf } from './console-cookie.ts'

const headerOf = (request: FastifyRequest, name: string): string | undefined => {
  const value = request.headers[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

const bearer = /^Bearer +(\S+) *$/i

/** Whether a request has a key where clients of OpenAI's API send it. */
export const isBearer = ({ authorization }: FastifyRequest['headers']): boolean =>
  bearer.test(authorization ?? '')

/** `X-API-Key`, or `Authorization: Bearer` so that stock SDKs work with `apiKey` alone. */
const apiKeyOf = (request: FastifyRequest): string | undefined =>
  headerOf(request, 'x-api-key') ?? headerOf(request, 'authorization')?.match(bearer)?.[1]

/** The credentials in a request. `consoleToken` is set only where there is no key. */
export type RequestCredentials = {
  apiKey: string | undefined
  consoleToken?: string | undefined
  organizationId: string | undefined
}

export const credentialsOf = (request: FastifyRequest): RequestCredentials => {
  const apiKey = apiKeyOf(request)
  const organizationId = headerOf(request, 'x-organization-id')
  if (apiKey !== undefined) return { apiKey, consoleToken: undefined, organizationId }
  return { apiKey, consoleToken: consoleTokenOf(request), organizationId }
}

const nothing: readonly string[] = []

/** Makes a request one of this caller. */
export const identify = (request: FastifyRequest, access: Access, clock: Clock): void => {
  request.access = access
  request.needed = nothing
  request.call = rootCall(access, request.id, clock.now())
  const trace = request.trace ?? traceIn(request)
  if (trace) request.call.trace = trace
}

/**
 * Calls `use` with the access of a request, then `done`. Every request passes here: for cached
 * access, no promise is made.
 */
export const withAccess = (
  find: () => ReturnType<FindAccess>,
  use: (access: Access) => void,
  done: (error?: Error) => void,
): void => {
  try {
    const access = find()
    if (access instanceof Promise) {
      access.then(use).then(() => done(), done)
      return
    }
    use(access)
  } catch (error) {
    done(error as Error)
    return
  }
  done()
}

type Authenticating = {
  findAccess: FindAccess
  clock: Clock
  /** What a request with the console's cookie must fulfil. @throws Refusal */
  requireOwn(request: FastifyRequest): void
}

/** Authenticates sockets and finds their organization (docs/contract/authentication.md). */
export const authenticate =
  ({ findAccess, clock, requireOwn }: Authenticating): onRequestHookHandler =>
  (request, _reply, done) => {
    const { apiKey, organizationId, consoleToken } = credentialsOf(request)
    withAccess(
      () => findAccess(apiKey, organizationId, consoleToken),
      (access) => {
        identify(request, access, clock)
        if (access.consoleSession) requireOwn(request)
      },
      done,
    )
  }

/** Whether the query asks to act for a user; read before the query is validated. */
const delegates = (query: unknown): boolean =>
  typeof query === 'object' && query !== null && 'on_behalf_of' in query

export const isManager = ({ kind, role }: Access): boolean =>
  kind === 'platform' || role === 'OWNER' || role === 'ADMIN'

/** @throws role_required, or the code that the route names */
const requireManager = ({ managers }: RouteRules, access: Access): void => {
  if (managers && !isManager(access)) throw refusal(managers === true ? 'role_required' : managers)
}

/**
 * Requires scopes beside those of the route. The request's stream ends when the key loses one.
 * @throws insufficient_scopes
 */
export const requireFor = (request: FastifyRequest, scopes: readonly string[]): void => {
  requireScopes(request.access, scopes)
  request.needed = [...request.needed, ...scopes]
}

/** The rights that an authorized request has needed, of another access. @throws Refusal */
export const requireStill = ({ routeOptions, needed }: FastifyRequest, access: Access): void => {
  requireManager(routeOptions.config, access)
  requireScopes(access, needed)
}

/**
 * Checks the role, scopes and kind of key that a route's rules require. The role comes first: a
 * member who lacks it lacks the scopes too, and giving them to the key would not help.
 */
export const authorization = (rules: RouteRules) => {
  const { scopes, platform, userKey, own } = rules
  const delegating = scopes && [...scopes, 'users:delegate']
  /** @throws platform_only, role_required, insufficient_scopes, user_key_required */
  return (request: FastifyRequest): void => {
    const { access } = request
    if (platform && access.kind !== 'platform') throw refusal('platform_only')
    requireManager(rules, access)
    const required = delegates(request.query) ? delegating : scopes
    if (required) {
      requireScopes(own ? { scopes: access.keyScopes } : access, required)
      request.needed = required
    }
    if (userKey && access.kind === 'organization') throw refusal('user_key_required')
  }
}
