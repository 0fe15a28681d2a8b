import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { RecordLoginCommand } from '../../../commands/record-login.ts'
import type { StartConsoleSessionCommand } from '../../../commands/start-console-session.ts'
import type { FindIdentity } from '../../../queries/find-identity.ts'
import { consoleSessionMs } from '../../domain/console-session/console-session.ts'
import { refusal } from '../../domain/refusal.ts'
import { systemCall } from '../../ports/call.ts'
import type { Clock } from '../../ports/clock.ts'
import {
  type IdentityProvider,
  type SignInChecks,
  SignInRefused,
  type VerifiedIdentity,
} from '../../ports/identity-provider.ts'
import { newToken, type Secrets } from '../../security/secrets.ts'
import { type ConsoleCookies, openIdPath, openIdStateOf } from '../checks/console-cookie.ts'
import type { OwnPage } from '../checks/own-page.ts'
import type { SignInLimit } from '../checks/sign-in-limit.ts'
import { refuseWithPages } from '../errors/sign-in-pages.ts'
import { signedInPage } from '../pages/console-pages.ts'
import { sendPage } from '../pages/page.ts'
import { email as emailForm } from '../wire/fields.ts'

type Uses = {
  provider: IdentityProvider
  recordLogin: RecordLoginCommand
  findIdentity: FindIdentity
  startConsoleSession: StartConsoleSessionCommand
  secrets: Pick<Secrets, 'openIdVerifierOf' | 'openIdNonceOf'>
  ownPage: OwnPage
  cookies: ConsoleCookies
  limitSignIns: SignInLimit
  requireHttps: onRequestHookHandler
  clock: Clock
}

const callbackPath = `${openIdPath}/callback`
/** How long a person may take at the provider. */
const signInMs = 10 * 60_000

/** An address that is malformed, or that nobody has verified, finds no account. */
const loginOf = ({ issuer, subject, email, emailVerified }: VerifiedIdentity) => {
  const address = emailForm.safeParse(email)
  return {
    email: address.data ?? '',
    provider: issuer,
    subject,
    verified: emailVerified && address.success,
    onlyKnown: true,
  }
}

/**
 * Sign-in by OpenID Connect (docs/contract/authentication.md#openid-connect). The browser holds the
 * state in a cookie; verifier and nonce are derived from it, so that nothing is stored.
 */
export const consoleOpenIdRoutes =
  (uses: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const { provider, recordLogin, findIdentity, startConsoleSession, clock } = uses
    const { secrets, ownPage, cookies, limitSignIns } = uses

    http.addHook('onRequest', uses.requireHttps)
    http.addHook('onRequest', async (request) => limitSignIns(request))
    refuseWithPages(http)

    const checksOf = (request: FastifyRequest, state: string): SignInChecks => ({
      redirectUri: `${ownPage.baseOf(request)}${callbackPath}`,
      state,
      nonce: secrets.openIdNonceOf(state),
      verifier: secrets.openIdVerifierOf(state),
    })

    http.get(openIdPath, { schema: { hide: true } }, async (request, reply) => {
      const state = newToken()
      const url = await provider.authorizationUrl(checksOf(request, state))
      cookies.setOpenId(reply, state, signInMs)
      return reply.header('referrer-policy', 'no-referrer').redirect(url, 302)
    })

    http.get(callbackPath, { schema: { hide: true } }, async (request, reply) => {
      const state = openIdStateOf(request)
      cookies.clearOpenId(reply)
      if (!state) throw new SignInRefused('This browser has begun no sign-in')
      const callback = new URL(request.url, ownPage.baseOf(request))
      const identity = await provider.identify(callback, checksOf(request, state))
      const linkedTo = await findIdentity(identity.issuer, identity.subject)
      const call = systemCall(request.id, clock.now())
      const login = await recordLogin({ ...loginOf(identity), linkedTo }, call)
      const { userId, currentOrganizationId: organizationId } = login
      if (organizationId === null) throw refusal('organization_access_denied')
      const person = { ...call, organizationId, userId }
      const { token } = await startConsoleSession({ method: 'openid' }, person)
      cookies.setSession(reply, token, consoleSessionMs)
      return sendPage(reply, 200, signedInPage())
    })
  }
