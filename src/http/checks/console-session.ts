import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import { refusal } from '../../domain/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { FindAccess } from '../../security/access.ts'
import { type Admit, limit } from './admission.ts'
import { credentialsOf, identify, withAccess } from './authenticate.ts'
import { consoleTokenOf } from './console-cookie.ts'
import type { OwnPage } from './own-page.ts'

type Uses = {
  findAccess: FindAccess
  admit: Admit
  requireOwnPage: OwnPage['requireOwnPage']
  clock: Clock
}

/**
 * The checks of a request about the console session itself, which its cookie names: in the order of
 * all others (docs/contract/requests.md#order-of-checks). A key in a header does not count.
 */
export const requireConsoleSession = (uses: Uses): onRequestHookHandler => {
  const { findAccess, admit, requireOwnPage, clock } = uses
  const requireLimit = limit(admit, {})
  /** Who signs out is not refused because the session's window is full. */
  const enter = limit(admit, { uncounted: true })
  const find = (request: FastifyRequest) => {
    const token = consoleTokenOf(request)
    if (token === undefined) throw refusal('invalid_session')
    return findAccess(undefined, credentialsOf(request).organizationId, token)
  }
  return (request, reply, done) =>
    withAccess(
      () => find(request),
      (access) => {
        identify(request, access, clock)
        requireOwnPage(request)
        if (request.method === 'DELETE') enter(access, reply)
        else requireLimit(access, reply)
      },
      done,
    )
}
