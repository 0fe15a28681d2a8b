import type { FastifyInstance } from 'fastify'
import { refusal } from '../../domain/refusal.ts'
import { IdentityProviderUnavailable, SignInRefused } from '../../ports/identity-provider.ts'
import { refusedSignInPage } from '../pages/console-pages.ts'
import { sendPage } from '../pages/page.ts'
import { refusalTable } from './refusal-table.ts'
import { refusalOf } from './reply.ts'

const refusalIn = (error: unknown) => {
  if (error instanceof IdentityProviderUnavailable) return refusal('service_unavailable')
  if (error instanceof SignInRefused) return refusal('sign_in_failed')
  return refusalOf(error, 'admin') ?? refusal('internal_error')
}

/** Refusals of sign-ins as pages for people, with status and code as everywhere. */
export const refuseWithPages = (http: FastifyInstance): void => {
  http.setErrorHandler((error, request, reply) => {
    const { code, message, facts } = refusalIn(error)
    const { status } = refusalTable[code]
    if (status >= 500) request.log.error({ err: error }, 'a sign-in failed')
    else if (error instanceof SignInRefused)
      request.log.warn({ err: error }, 'a sign-in was refused')
    reply.header('x-error-code', code)
    if (facts.retryAfter !== undefined) reply.header('retry-after', facts.retryAfter)
    return sendPage(reply, status, refusedSignInPage(code, message))
  })
}
