import type { onRequestHookHandler } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type {
  CheckWelcomeLink,
  RedeemWelcomeLinkCommand,
} from '../../../commands/redeem-welcome-link.ts'
import { consoleSessionMs } from '../../domain/console-session/console-session.ts'
import { refusal } from '../../domain/refusal.ts'
import { systemCall } from '../../ports/call.ts'
import type { Clock } from '../../ports/clock.ts'
import { tokenForm } from '../../security/secrets.ts'
import type { ConsoleCookies } from '../checks/console-cookie.ts'
import type { OwnPage } from '../checks/own-page.ts'
import type { SignInLimit } from '../checks/sign-in-limit.ts'
import { refuseWithPages } from '../errors/sign-in-pages.ts'
import { welcomePage } from '../pages/console-pages.ts'
import { sendPage } from '../pages/page.ts'

type Uses = {
  checkWelcomeLink: CheckWelcomeLink
  redeemWelcomeLink: RedeemWelcomeLinkCommand
  ownPage: OwnPage
  cookies: ConsoleCookies
  limitSignIns: SignInLimit
  requireHttps: onRequestHookHandler
  clock: Clock
}

const url = '/console/welcome/:token'
const params = z.object({ token: z.string() })
/** The form has no fields. */
const bodyLimit = 1_024

/**
 * The one-time link that the demo's first start prints
 * (docs/contract/authentication.md#console-sessions): GET shows a button, its POST signs in.
 */
export const consoleWelcomeRoutes =
  (uses: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const { checkWelcomeLink, redeemWelcomeLink, ownPage, cookies, limitSignIns, clock } = uses

    http.addHook('onRequest', uses.requireHttps)
    http.addHook('onRequest', async (request) => limitSignIns(request))
    refuseWithPages(http)
    http.removeAllContentTypeParsers()
    http.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit },
      (_request, _body, done) => done(null, undefined),
    )

    const requireForm = (token: string): void => {
      if (!tokenForm.test(token)) throw refusal('welcome_link_not_found')
    }

    http.get(url, { schema: { params, hide: true } }, async ({ params: { token } }, reply) => {
      requireForm(token)
      await checkWelcomeLink(token, clock.now().toISOString())
      return sendPage(reply, 200, welcomePage())
    })

    http.post(url, { schema: { params, hide: true } }, async (request, reply) => {
      ownPage.requireOwnForm(request)
      const { token } = request.params
      requireForm(token)
      const call = systemCall(request.id, clock.now())
      const session = await redeemWelcomeLink({ token }, call)
      cookies.setSession(reply, session.token, consoleSessionMs)
      return reply
        .code(303)
        .headers({ location: '/console/', 'referrer-policy': 'no-referrer' })
        .send()
    })
  }
