import t from 'tap'
import { scopes } from '../../../src/domain/api-key/scopes.ts'
import { operationsOf } from '../../support/open-api.ts'
import { withOrganization } from '../../support/partner.ts'
import { startApp } from '../../support/server.ts'

/** Valid bodies of operations that act for a user, without `on_behalf_of`. */
const bodies: Record<string, object> = {
  'post /api/external/agents/{agent_id}/completions': { message: 'Hello' },
  'post /api/external/approvals/{approval_id}': { decision: 'approve', arguments_digest: 'x' },
  'post /api/external/sessions/{session_id}/cancel': {},
  'post /api/external/sessions/{session_id}/fork': {},
  'post /api/external/sessions/{session_id}/messages/{event_id}/regenerate': {},
  'post /api/external/sessions/{session_id}/runs/{run_id}/tools/{tool_id}/outcome': {
    outcome: 'done',
  },
  'post /api/external/v1/chat/completions': { messages: [{ role: 'user', content: 'Hello' }] },
  'post /api/external/v1/responses': { input: 'Hello' },
  'post /api/external/v1/responses/{response_id}/cancel': {},
  'post /api/external/v1/warmup': {},
}

const inQuery = [
  'delete /api/external/v1/responses/{response_id}',
  'get /api/external/approvals',
  'get /api/external/approvals/{approval_id}',
  'get /api/external/content',
  'get /api/external/content/{content_id}',
  'get /api/external/sessions',
  'get /api/external/sessions/{session_id}',
  'get /api/external/sessions/{session_id}/messages',
  'get /api/external/sessions/{session_id}/messages/{event_id}',
  'get /api/external/sessions/{session_id}/status',
  'get /api/external/sessions/{session_id}/stream',
  'get /api/external/v1/responses/{response_id}',
  'get /api/external/v1/responses/{response_id}/input_items',
  'post /api/external/content/{content_id}/retry',
]

t.test('every operation refuses a user of another organization as on_behalf_of', async (t) => {
  const world = await startApp(t)
  const { at } = await withOrganization(world)
  const { asPlatform: platform } = world
  const other = await platform('POST', '/api/admin/organizations', {
    name: 'Other',
    owner: { email: 'other@example.com' },
  })
  const key = await platform('POST', `${at}/api-keys`, { name: 'All', scopes })
  const ask = world.clientOf(key.body.key)
  const document = (await world.http.inject('/api/openapi.json')).json()

  const operations = operationsOf(document)
    .filter(({ path }) => path.startsWith('/api/external'))
    .map(({ path, method, operation }) => ({
      name: `${method} ${path}`,
      query: (operation.parameters ?? []).some(({ name }) => name === 'on_behalf_of'),
      body: JSON.stringify(operation.requestBody?.content ?? {}).includes('"on_behalf_of"'),
    }))
  const named = (place: 'query' | 'body') =>
    operations.filter((operation) => operation[place]).map(({ name }) => name)
  t.strictSame(named('query').sort(), inQuery, 'in the query')
  t.strictSame(named('body').sort(), Object.keys(bodies), 'in the body')

  const refusalOf = async (name: string, on_behalf_of: string) => {
    const [method = '', path = ''] = name.split(' ')
    const url = path.replace(/\{\w+\}/g, 'unknown')
    const body = bodies[name]
    const { status, code } = await ask(
      method.toUpperCase() as 'GET',
      body ? url : `${url}?on_behalf_of=${on_behalf_of}`,
      body && { ...body, on_behalf_of },
    )
    return `${status} ${code}`
  }
  for (const name of [...inQuery, ...Object.keys(bodies)])
    t.equal(await refusalOf(name, other.body.owner_user_id), '404 user_not_found', name)
})
