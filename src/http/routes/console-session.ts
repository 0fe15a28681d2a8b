import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { EndConsoleSessionCommand } from '../../../commands/end-console-session.ts'
import type { EndConsoleSessionsCommand } from '../../../commands/end-console-sessions.ts'
import type { StartConsoleSessionCommand } from '../../../commands/start-console-session.ts'
import type { GetMember } from '../../../queries/get-member.ts'
import { consoleSessionMs } from '../../domain/console-session/console-session.ts'
import { platformId } from '../../domain/event.ts'
import { refusal } from '../../domain/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Access, FindAccess } from '../../security/access.ts'
import type { Secrets } from '../../security/secrets.ts'
import type { Admit } from '../checks/admission.ts'
import { identify } from '../checks/authenticate.ts'
import { type ConsoleCookies, consoleTokenOf } from '../checks/console-cookie.ts'
import { requireConsoleSession } from '../checks/console-session.ts'
import type { OwnPage } from '../checks/own-page.ts'
import type { SignInLimit } from '../checks/sign-in-limit.ts'
import { openRefusals } from '../errors/responses.ts'
import { id } from '../wire/fields.ts'

const user = z
  .object({
    user_id: id.nullable(),
    email: z.string().nullable(),
    name: z.string().nullable(),
    role: z.enum(['OWNER', 'ADMIN', 'MEMBER', 'SUPER_ADMIN']),
  })
  .describe('Who acts: the key’s backing user. `SUPER_ADMIN`: the platform’s key, without a user')

const session = z.object({
  csrf_token: z.string().describe('Sent as X-CSRF-Token with every request that changes something'),
  user,
  organization_id: id.nullable().describe('Null: the platform’s key'),
  scopes: z.array(z.string()),
  expires_at: z.iso.datetime(),
})

/** Longer than any key. */
const signIn = z.object({ api_key: z.string().min(1).max(512) })

/** Enough for a key. */
const bodyLimit = 4 * 1024

type Uses = {
  startConsoleSession: StartConsoleSessionCommand
  endConsoleSession: EndConsoleSessionCommand
  endConsoleSessions: EndConsoleSessionsCommand
  getMember: GetMember
  findAccess: FindAccess
  admit: Admit
  ownPage: OwnPage
  cookies: ConsoleCookies
  limitSignIns: SignInLimit
  csrfTokenOf: Secrets['csrfTokenOf']
  hashApiKey: Secrets['hashApiKey']
  /** Whether people can sign in by OpenID Connect. */
  offersOpenId: boolean
  requireHttps: onRequestHookHandler
  clock: Clock
}

const security = [{ console: [] }]

/** Sign-in and sign-out of the console (docs/contract/authentication.md#console-sessions). */
export const consoleSessionRoutes =
  (uses: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const { findAccess, admit, ownPage, cookies, clock, getMember, limitSignIns } = uses
    const inSession = requireConsoleSession({
      findAccess,
      admit,
      requireOwnPage: ownPage.requireOwnPage,
      clock,
    })

    const userOf = async ({ organizationId, userId }: Access): Promise<z.infer<typeof user>> => {
      if (userId === null) return { user_id: null, email: null, name: null, role: 'SUPER_ADMIN' }
      const { user_id, email, name, role } = await getMember(organizationId, userId)
      return { user_id, email, name, role }
    }

    const sessionOf = async (access: Access, token: string, expiresAt: string) => ({
      csrf_token: uses.csrfTokenOf(token),
      user: await userOf(access),
      organization_id: access.organizationId === platformId ? null : access.organizationId,
      scopes: [...access.scopes],
      expires_at: expiresAt,
    })

    /** The session that a request was admitted with. */
    const heldBy = (request: FastifyRequest) => {
      const { consoleSession } = request.access
      if (!consoleSession) throw refusal('invalid_session')
      return consoleSession
    }

    const signedOut = (reply: FastifyReply) => cookies.clearSession(reply).code(204).send(null)

    http.addHook('onRequest', uses.requireHttps)

    http.post(
      '/console/session',
      {
        bodyLimit,
        config: { group: 'admin' },
        onRequest: async (request) => {
          limitSignIns(request)
          ownPage.requireOrigin(request)
        },
        schema: {
          tags: ['console'],
          summary: 'Sign in with an API key',
          description:
            'Sets the cookie `reprise_session` for 12 hours. The `Origin` must be this server’s.',
          body: signIn,
          response: {
            200: session,
            ...openRefusals(
              'https_required',
              'rate_limit_exceeded',
              'origin_not_allowed',
              'invalid_api_key',
              'organization_access_denied',
              'missing_required_field',
              'invalid_input',
              'invalid_json',
              'payload_too_large',
              'unsupported_media_type',
            ),
          },
        },
      },
      async (request, reply) => {
        const { api_key } = request.body
        const access = await findAccess(api_key, undefined)
        identify(request, access, clock)
        const isPlatform = access.kind === 'platform'
        const { token, expiresAt } = await uses.startConsoleSession(
          {
            method: 'api_key',
            ...(isPlatform ? { platformKeyHash: uses.hashApiKey(api_key) } : {}),
          },
          request.call,
        )
        cookies.setSession(reply, token, consoleSessionMs)
        return sessionOf(access, token, expiresAt)
      },
    )

    const codes = [
      'https_required',
      'invalid_session',
      'organization_access_denied',
      'origin_not_allowed',
      'rate_limit_exceeded',
      'invalid_plan',
    ] as const
    const refused = openRefusals(...codes)
    const refusedChange = openRefusals(...codes, 'invalid_csrf_token')

    http.get(
      '/console/session',
      {
        config: { group: 'admin' },
        onRequest: inSession,
        schema: {
          tags: ['console'],
          security,
          summary: 'Who is signed in, with which scopes',
          response: { 200: session, ...refused },
        },
      },
      async (request) => {
        const { expiresAt } = heldBy(request)
        return sessionOf(request.access, consoleTokenOf(request) ?? '', expiresAt)
      },
    )

    http.delete(
      '/console/session',
      {
        config: { group: 'admin' },
        onRequest: inSession,
        schema: {
          tags: ['console'],
          security,
          summary: 'Sign out',
          response: { 204: z.null().describe('Signed out'), ...refusedChange },
        },
      },
      async (request, reply) => {
        const { tokenHash } = heldBy(request)
        await uses.endConsoleSession({ tokenHash }, request.call)
        return signedOut(reply)
      },
    )

    http.delete(
      '/console/sessions',
      {
        config: { group: 'admin' },
        onRequest: inSession,
        schema: {
          tags: ['console'],
          security,
          summary: 'Sign out everywhere',
          description:
            'Ends every session of the user. A session of an organization key ends those of that key.',
          response: { 204: z.null().describe('Signed out'), ...refusedChange },
        },
      },
      async (request, reply) => {
        const { kind, keyId } = request.access
        const isShared = kind === 'organization' && keyId !== null
        await uses.endConsoleSessions({ of: isShared ? { keyId } : 'all' }, request.call)
        return signedOut(reply)
      },
    )

    http.get(
      '/console/session/options',
      {
        config: { group: 'admin' },
        schema: {
          tags: ['console'],
          summary: 'How people can sign in',
          response: {
            200: z.object({
              openid: z
                .boolean()
                .describe('Whether `/console/openid` leads to an identity provider'),
            }),
            ...openRefusals('https_required'),
          },
        },
      },
      async () => ({ openid: uses.offersOpenId }),
    )
  }
