import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import t from 'tap'
import { eventually } from '../../support/eventually.ts'
import { superAdminKey } from '../../support/platform.ts'
import { raw } from '../../support/raw.ts'
import { startApp } from '../../support/server.ts'

const most = 1_000

t.test('an organization has a thousand open feeds, unread or not', async (t) => {
  const server = await startApp(t)
  const { organizationId } = await server.platform.organization()
  const other = await server.platform.organization()
  const headers = { 'x-api-key': superAdminKey }
  const pathOf = (id: string) => `/api/admin/organizations/${id}/feeds/agents`
  const open: ClientRequest[] = []
  const follow = async () => {
    const stream = request(new URL(pathOf(organizationId), server.url), { headers, agent: false })
    open.push(stream.end())
    const [reply]: IncomingMessage[] = await once(stream, 'response')
    stream.on('error', () => undefined)
    return reply?.statusCode
  }
  for (let n = 0; n < most; n += 50)
    t.ok((await Promise.all(Array.from({ length: 50 }, follow))).every((status) => status === 200))
  const ask = raw(server.url)
  const refused = await ask(pathOf(organizationId), { headers })
  t.match(refused, {
    status: 429,
    headers: { 'retry-after': '1', 'x-error-code': 'rate_limit_exceeded' },
    body: { window: 'concurrent', limit: most },
  })
  const lines = { headers: { ...headers, accept: 'application/x-ndjson' } }
  t.equal((await ask(pathOf(other.organizationId), lines)).status, 200, 'others are not concerned')
  for (const stream of open) stream.destroy()
  await eventually(async () => (await ask(pathOf(organizationId), lines)).status === 200)
  t.pass('there is room once they have gone')
})
