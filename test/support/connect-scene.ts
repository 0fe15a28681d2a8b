import type { Test } from 'tap'
import { movableClock, startApp } from './server.ts'
import { shopCall } from './shop-call.ts'
import { json, web } from './web.ts'

const users = '/api/external/management/users'

/**
 * A listening server, a partner's application with a key and a user in an organization of it, and a
 * shop that agents call. `others` are hosts that agents may call too.
 */
export const connectScene = async (t: Test, ...others: readonly string[]) => {
  const clock = movableClock()
  const shop = await web(t, (_asked, response) => json(response, { stock: 3 }))
  const application = await web(t, (_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end('<!doctype html><html lang="en"><title>App</title><h1>Welcome back</h1></html>')
  })
  const allowed = [shop.host, ...others].join(',')
  const server = await startApp(t, { API_CALL_ALLOW_HOSTS: allowed }, { clock })
  const organization = await server.platform.organization()
  const { organizationId: organization_id } = organization
  const key = await organization.key({
    scopes: [
      'orchestrator:invoke',
      'users:provision',
      'users:delegate',
      'users:credentials',
      'secrets:manage',
    ],
  })
  const provisioned = async (email: string) => {
    const user_id: string = (await key.ask('POST', users, { email, organization_id })).body.user_id
    return { user_id, of: `${users}/${user_id}` }
  }
  const { user_id, of } = await provisioned('ann@example.com')
  return {
    clock,
    shop,
    application,
    server,
    organization,
    key,
    provisioned,
    user_id,
    of,
    /** An agent that needs these credentials. */
    agent: (...credentials: readonly string[]) =>
      organization.agent({
        name: 'Shopper',
        tools: [shopCall(shop.url, ...credentials)],
        credentials: credentials.map((name) => ({ name, label: `Your ${name} key` })),
      }),
    /** What a partner's application sends its user to. */
    async link(agent_id: string): Promise<string> {
      const return_url = `${application.url}/back?state=7`
      return (await key.ask('POST', `${of}/connect-links`, { agent_id, return_url })).body.url
    },
    /** Names and whether they are connected, as the application is told. */
    async connected(agent_id: string): Promise<Record<string, boolean>> {
      const { body } = await key.ask('GET', `${of}/connect-status?agent_id=${agent_id}`)
      return Object.fromEntries(
        body.items.map((item: { name: string; connected: boolean }) => [item.name, item.connected]),
      )
    },
  }
}
