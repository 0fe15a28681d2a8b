import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Clock } from '../../ports/clock.ts'
import type { Access, FindAccess } from '../../security/access.ts'
import type { RouteRules } from '../server/route-rules.ts'
import { acceptable } from './acceptable.ts'
import { type Admit, limit } from './admission.ts'
import { authorization, credentialsOf, identify } from './authenticate.ts'
import { httpsRequired } from './https.ts'

type Uses = {
  httpsMode: Parameters<typeof httpsRequired>[0]
  findAccess: FindAccess
  admit: Admit
  /** Called for every request that passed authentication and limits. */
  counted(access: Access): void
  clock: Clock
}

type Check = (access: Access, request: FastifyRequest, reply: FastifyReply) => void

/**
 * What is checked of a request under a key before its body is read, in this order
 * (docs/contract/requests.md#order-of-checks). What a route's rules ask for is made out once; unknown
 * paths have no rules. Nothing waits unless the key has to be read.
 */
export const orderOfChecks = (uses: Uses): onRequestHookHandler => {
  const { httpsMode, findAccess, admit, counted, clock } = uses
  const requireSecure = httpsRequired(httpsMode)

  const checkFor = (rules: RouteRules | undefined): Check => {
    const requireLimit = limit(admit, rules?.lasting === true)
    const authorize = rules && authorization(rules)
    const requireAcceptable = rules && acceptable(rules)
    return (access, request, reply) => {
      identify(request, access, clock)
      requireLimit(access, reply)
      counted(access)
      authorize?.(request)
      requireAcceptable?.(request)
    }
  }

  const ofUnknownPaths = checkFor(undefined)
  const ofRoutes = new WeakMap<RouteRules, Check>()

  const checkOf = ({ routeOptions: { config, url } }: FastifyRequest): Check => {
    if (url === undefined) return ofUnknownPaths
    const known = ofRoutes.get(config)
    if (known) return known
    const made = checkFor(config)
    ofRoutes.set(config, made)
    return made
  }

  return (request, reply, done) => {
    try {
      requireSecure(request)
      const { apiKey, organizationId } = credentialsOf(request)
      const found = findAccess(apiKey, organizationId)
      const check = checkOf(request)
      if (found instanceof Promise) {
        found.then((access) => check(access, request, reply)).then(() => done(), done)
        return
      }
      check(found, request, reply)
    } catch (error) {
      done(error as Error)
      return
    }
    done()
  }
}
