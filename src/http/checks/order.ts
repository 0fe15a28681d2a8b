import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Clock } from '../../ports/clock.ts'
import type { Access, FindAccess } from '../../security/access.ts'
import type { RouteRules } from '../server/route-rules.ts'
import { acceptable } from './acceptable.ts'
import { type Admit, limit } from './admission.ts'
import { authorization, credentialsOf, identify, withAccess } from './authenticate.ts'
import { httpsRequired } from './https.ts'
import type { OwnPage } from './own-page.ts'

type Uses = {
  httpsMode: Parameters<typeof httpsRequired>[0]
  findAccess: FindAccess
  admit: Admit
  requireOwnPage: OwnPage['requireOwnPage']
  /** Called for every request that passed authentication and limits. */
  counted(access: Access): void
  clock: Clock
}

type Check = (access: Access, request: FastifyRequest, reply: FastifyReply) => void

/**
 * The checks of a request under a key before its body is read, in this order
 * (docs/contract/requests.md#order-of-checks). The checks of a route are made once; unknown paths
 * have no rules.
 */
export const orderOfChecks = (uses: Uses): onRequestHookHandler => {
  const { httpsMode, findAccess, admit, requireOwnPage, counted, clock } = uses
  const requireSecure = httpsRequired(httpsMode)

  const checkFor = (rules: RouteRules | undefined): Check => {
    const requireLimit = limit(admit, rules ?? {})
    const authorize = rules && authorization(rules)
    const requireAcceptable = rules && acceptable(rules)
    return (access, request, reply) => {
      identify(request, access, clock)
      if (access.consoleSession) requireOwnPage(request)
      requireLimit(access, reply)
      counted(access)
      authorize?.(request)
      requireAcceptable?.(request)
    }
  }

  const unknownPathCheck = checkFor(undefined)
  const routeChecks = new WeakMap<RouteRules, Check>()

  const checkOf = ({ routeOptions: { config, url } }: FastifyRequest): Check => {
    if (url === undefined) return unknownPathCheck
    const cached = routeChecks.get(config)
    if (cached) return cached
    const check = checkFor(config)
    routeChecks.set(config, check)
    return check
  }

  return (request, reply, done) =>
    withAccess(
      () => {
        requireSecure(request)
        const { apiKey, organizationId, consoleToken } = credentialsOf(request)
        return findAccess(apiKey, organizationId, consoleToken)
      },
      (access) => checkOf(request)(access, request, reply),
      done,
    )
}
