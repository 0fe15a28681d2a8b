import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { ConnectCredentialsCommand } from '../../../commands/connect-credentials.ts'
import type { RequireProvisionedUser } from '../../../commands/require-provisioned-user.ts'
import type { ConnectLinkView } from '../../../projections/connect-links.ts'
import type { FindConnectLink } from '../../../queries/find-connect-link.ts'
import type { ConnectFormItem, GetConnectForm } from '../../../queries/get-connect-form.ts'
import type { GetOrganization } from '../../../queries/get-organization.ts'
import { isCredentialValue } from '../../domain/credential/credential.ts'
import { type Call, rootCall } from '../../ports/call.ts'
import type { Clock } from '../../ports/clock.ts'
import { type Secrets, sameSecret } from '../../security/secrets.ts'
import { refusalTable } from '../errors/refusal-table.ts'
import { refusalOf } from '../errors/reply.ts'
import { connectPage, refusedFormPage, unknownLinkPage } from '../pages/connect-page.ts'
import { sendPage } from '../pages/page.ts'
import { parseQuery } from '../server/query-string.ts'

type Uses = {
  connectCredentials: ConnectCredentialsCommand
  findConnectLink: FindConnectLink
  requireProvisionedUser: RequireProvisionedUser
  getConnectForm: GetConnectForm
  getOrganization: GetOrganization
  signForm: Secrets['signForm']
  requireHttps: onRequestHookHandler
  clock: Clock
}

/** Enough for 40 values of the greatest length. */
const formLimit = 1024 * 1024

const params = z.object({ token: z.string() })
const form = z.record(z.string(), z.string())

/** The actor is the link's user; there is no key. */
const callOf = (link: ConnectLinkView, { id }: FastifyRequest, at: Date): Call => {
  const actor = { organizationId: link.organization_id, keyId: null, userId: link.user_id }
  return { ...rootCall(actor, id, at), causationId: link.link_id }
}

const connectedUrl = (returnUrl: string): string => {
  const url = new URL(returnUrl)
  url.searchParams.set('status', 'connected')
  return url.href
}

/**
 * The page that a connect link opens (docs/contract/provisioned-users.md#the-connect-page): plain
 * HTML over GET and POST.
 */
export const connectRoutes =
  (uses: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const { connectCredentials, findConnectLink, requireProvisionedUser } = uses
    const { getConnectForm, getOrganization, signForm, requireHttps, clock } = uses

    http.addHook('onRequest', requireHttps)
    http.removeAllContentTypeParsers()
    http.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: formLimit },
      (_request, body, done) => done(null, parseQuery(String(body))),
    )
    http.setErrorHandler((error, request, reply) => {
      const code = refusalOf(error, 'management')?.code ?? 'internal_error'
      const { status } = refusalTable[code]
      if (status >= 500) request.log.error({ err: error }, 'request failed')
      if (status === 404 || code === 'not_provisioned')
        return sendPage(reply, 404, unknownLinkPage())
      return sendPage(reply, status, refusedFormPage())
    })

    const opened = new WeakMap<FastifyRequest, Awaited<ReturnType<typeof linkOf>>>()

    /** A valid link whose user still belongs to the organization. */
    const linkOf = async (request: FastifyRequest, token: string) => {
      const link = await findConnectLink(token)
      const call = callOf(link, request, clock.now())
      await requireProvisionedUser(link.user_id, call)
      return { link, call }
    }

    /** A token valid only for the hosts on the page, so that exactly those are stored. */
    const csrfOf = (token: string, items: readonly ConnectFormItem[]): string =>
      signForm(JSON.stringify([token, items.map(({ name, hosts }) => [name, hosts])]))

    const itemsOf = ({ organization_id, user_id, agent_id }: ConnectLinkView) =>
      getConnectForm(organization_id, user_id, agent_id)

    const show = async (
      reply: FastifyReply,
      token: string,
      link: ConnectLinkView,
      refused?: readonly string[],
    ) => {
      const { name, color } = await getOrganization(link.organization_id)
      const items = await itemsOf(link)
      const page = connectPage({
        organization: name,
        color,
        returnUrl: link.return_url,
        items,
        csrf: csrfOf(token, items),
        refused,
      })
      return sendPage(reply, refused ? 400 : 200, page)
    }

    http.get('/connect/:token', { schema: { params, hide: true } }, async (request, reply) => {
      const { token } = request.params
      const { link } = await linkOf(request, token)
      return show(reply, token, link)
    })

    http.post(
      '/connect/:token',
      {
        schema: { params, body: form, hide: true },
        // Without a valid link, the form is not read.
        preParsing: async (request) => {
          opened.set(request, await linkOf(request, request.params.token))
        },
      },
      async (request, reply) => {
        const { token } = request.params
        const { link, call } = opened.get(request) ?? (await linkOf(request, token))
        const { csrf = '', ...given } = request.body
        const items = await itemsOf(link)
        if (!sameSecret(csrf, csrfOf(token, items))) return sendPage(reply, 403, refusedFormPage())
        const values = items.flatMap(({ name, hosts }) => {
          const value = Object.hasOwn(given, name) ? given[name]?.trim() : undefined
          return value ? [{ name, value, hosts }] : []
        })
        const { user_id: userId, link_id: linkId } = link
        const usable = values.filter(({ value }) => isCredentialValue(value))
        await connectCredentials({ userId, linkId, values: usable }, call)
        const refused = values.filter((value) => !usable.includes(value)).map(({ name }) => name)
        if (refused.length > 0) return show(reply, token, link, refused)
        const complete = (await itemsOf(link)).every(({ connectedAt }) => connectedAt !== undefined)
        if (values.length === 0 && !complete) return show(reply, token, link, [])
        const target = complete ? connectedUrl(link.return_url) : `/connect/${token}`
        return reply
          .code(303)
          .headers({ location: target, 'referrer-policy': 'no-referrer' })
          .send()
      },
    )
  }
