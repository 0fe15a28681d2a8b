import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'
import type { Test } from 'tap'

type Person = { sub: string; email?: string; email_verified?: boolean }

export const client = { client_id: 'reprise', client_secret: 'secret-of-the-client' }

/**
 * An OpenID Connect provider of the package `oidc-provider` on loopback. Whoever comes is signed in
 * as `person` without a question.
 */
export const identityProvider = async (t: Test) => {
  let person: Person = { sub: 'nobody' }
  let handle = (_request: IncomingMessage, response: ServerResponse): unknown =>
    response.writeHead(503).end()
  const server = createServer((request, response) => void handle(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    issuer,
    /** The environment of a server that people sign in to with it. */
    env: {
      OIDC_ISSUER: issuer,
      OIDC_CLIENT_ID: client.client_id,
      OIDC_CLIENT_SECRET: client.client_secret,
    },
    /** Answers from now on; until then it is down. */
    start(url: string): void {
      const provider = new Provider(issuer, {
        clients: [{ ...client, redirect_uris: [`${url}/console/openid/callback`] }],
        claims: { email: ['email', 'email_verified'], profile: ['name'] },
        cookies: { keys: ['of a test'] },
        features: { devInteractions: { enabled: false } },
        interactions: { url: (_context, { uid }) => `/login/${uid}` },
        findAccount: async (_context, accountId) => ({
          accountId,
          claims: async () => ({ ...person, sub: accountId }),
        }),
        async loadExistingGrant({ oidc }) {
          const { clientId } = oidc.client
          const grant = new oidc.provider.Grant({ clientId, accountId: oidc.session.accountId })
          grant.addOIDCScope('openid email profile')
          await grant.save()
          return grant
        },
      })
      const answer = provider.callback()
      handle = (request, response) =>
        request.url?.startsWith('/login/')
          ? provider.interactionFinished(
              request,
              response,
              { login: { accountId: person.sub } },
              { mergeWithLastSubmission: false },
            )
          : answer(request, response)
    },
    /** Who signs in from now on. */
    becomes(next: Person): void {
      person = next
    },
  }
}

const cookiesOf = (reply: Response): string[] =>
  reply.headers.getSetCookie().map((cookie) => cookie.split(';', 1)[0] ?? '')

/** A browser without scripts: cookies by host and port, and one step at a time. */
export const cookieJar = () => {
  const jars = new Map<string, Map<string, string>>()
  return {
    async get(url: string | URL): Promise<Response> {
      const { host } = new URL(url)
      const jar = jars.get(host) ?? new Map<string, string>()
      jars.set(host, jar)
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
      const reply = await fetch(url, { redirect: 'manual', headers: { cookie } })
      for (const set of cookiesOf(reply)) {
        const [name = '', ...value] = set.split('=')
        jar.set(name, value.join('='))
      }
      return reply
    },
    cookie: (url: string, name: string) => jars.get(new URL(url).host)?.get(name),
  }
}
