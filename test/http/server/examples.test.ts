import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { startDemo } from '../../support/demo.ts'
import { eventually } from '../../support/eventually.ts'
import {
  conformance,
  contractOf,
  formats,
  type Operation,
  operationsOf,
} from '../../support/open-api.ts'
import { superAdminKey } from '../../support/platform.ts'
import { raw } from '../../support/raw.ts'

const exampleIn = ({ requestBody }: Operation): unknown =>
  requestBody?.content['application/json']?.example

t.test(
  'every body has an example that fits its own schema, and so has every parameter',
  async (t) => {
    const { url } = await startDemo(t)
    const ajv = new Ajv2020({ strict: false, formats })
    const fits = (schema: object, value: unknown, what: string) =>
      t.ok(ajv.validate(schema, value), `${what}: ${ajv.errorsText()}`)
    let bodies = 0
    for (const { path, method, operation } of operationsOf(await contractOf(url))) {
      const body = operation.requestBody?.content['application/json']
      if (body) {
        bodies++
        t.ok(body.example, `${method} ${path}`)
        fits(body.schema, body.example, `${method} ${path}`)
      }
      for (const { name, schema, example } of operation.parameters ?? []) {
        if (example !== undefined) fits(schema, example, `${method} ${path}: ${name}`)
        if (schema.default !== undefined) fits(schema, schema.default, `${method} ${path}: ${name}`)
      }
    }
    t.ok(bodies > 20)
  },
)

/** Which operations a key of the demo organization may not call, and whose key may. */
const byPlatform =
  /^\/api\/admin\/(platform|projections|master-key|users|identity)\b|^\/api\/admin\/organizations$/
const byUser = /^\/api\/me\/|\/me\/credentials|\/instruction$|\/approvals|\/outcome$/

/** The refusals of examples that name a thing that the demo lacks or still uses. */
const refused: Readonly<Record<string, string>> = {
  'get /ws/chat': 'upgrade_required',
  'get /api/admin/organizations/{organization_id}/audit/charges': 'invalid_query',
  'post /console/session': 'origin_not_allowed',
  'get /console/session': 'invalid_session',
  'delete /console/session': 'invalid_session',
  'delete /console/sessions': 'invalid_session',
  'post /api/external/sessions/{session_id}/runs/{run_id}/tools/{tool_id}/outcome':
    'tool_not_in_doubt',
  'post /api/me/memberships/{organization_id}/decline': 'invitation_not_found',
  'delete /api/external/management/users/{user_id}/sessions/{session_id}': 'session_not_found',
  'delete /api/external/rag/datastores/{datastore_id}': 'datastore_in_use',
  'delete /api/admin/organizations/{organization_id}/agents/{agent_id}': 'agent_in_use',
}

t.test('every example answers what the document says, as it stands', async (t) => {
  const { url, key, organizationId } = await startDemo(t)
  const ask = raw(url)
  const as = async (apiKey: string, method: string, path: string, body?: unknown) =>
    ask(path, {
      method: method.toUpperCase(),
      headers: {
        'x-api-key': apiKey,
        ...(/\/feeds\/\w+(\?|$)/.test(path) ? { accept: 'application/x-ndjson' } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const at = `/api/admin/organizations/${organizationId}`
  const own = (await as(superAdminKey, 'post', `${at}/api-keys`, { name: 'Own', type: 'user' }))
    .body
  const operations = operationsOf(await contractOf(url))
  const bodyOf = (method: string, path: string) => {
    const match = operations.find(
      (operation) => operation.method === method && operation.path === path,
    )
    return match && exampleIn(match.operation)
  }

  // What only a request can tell.
  const studio = (await as(key, 'get', `${at}/agents`)).body.agents.find(
    ({ name }: { name: string }) => name === 'Studio',
  )
  const draw = async (what: string, status: string) => {
    const path = `/api/external/agents/${studio.agent_id}/completions`
    await as(key, 'post', path, { message: `Draw ${what} of a cat` })
    return eventually(
      async () => (await as(key, 'get', `/api/external/content?status=${status}`)).body.items[0],
    )
  }
  const content = await draw('an image', 'completed')
  const failed = await draw('a video', 'failed')
  const people = '/api/external/management/users'
  const { user_id } = (await as(key, 'post', people, bodyOf('post', people))).body
  const caller = (
    await as(
      key,
      'post',
      `${at}/agents`,
      bodyOf('post', '/api/admin/organizations/{organization_id}/agents'),
    )
  ).body
  const email = 'member@example.com'
  const member = (await as(key, 'post', `${at}/members`, { email })).body
  await as(superAdminKey, 'post', '/api/admin/identity/logins', {
    ...{ email, provider: 'test', subject: email },
    accept: [{ organization_id: organizationId }],
  })
  const chat = '/api/external/v1/chat/completions'
  await as(key, 'post', chat, bodyOf('post', chat))
  const [message] = (await as(key, 'get', '/api/external/sessions/tour/messages')).body.messages
  const check = {
    type: 'api_call',
    name: 'check',
    method: 'POST',
    url: 'https://shop.example/checks',
    requires_approval: true,
  }
  const checking = (await as(key, 'post', `${at}/agents`, { name: 'Checking', tools: [check] }))
    .body.agent_id
  const request = { message: 'check' }
  await as(own.key, 'post', `/api/external/agents/${checking}/completions`, request)
  const [approval] = (await as(own.key, 'get', '/api/external/approvals')).body.approvals
  const created = (await as(superAdminKey, 'post', `${at}/api-keys`, { name: 'Gone soon' })).body
  const mine = (await as(own.key, 'post', '/api/me/api-keys', { name: 'Gone soon' })).body

  const { body: response } = await as(key, 'post', '/api/external/v1/responses', { input: 'Hi' })
  const named = (path: string): Record<string, string> => ({
    user_id: path.includes('/members/') ? member.user_id : user_id,
    content_id: path.endsWith('/retry') ? failed.id : content.id,
    event_id: message.event_id,
    response_id: response.id,
    run_id: response.id.slice('resp_'.length),
    approval_id: approval.approval_id,
    key_id: path.startsWith('/api/me/') ? mine.key_id : created.key_id,
    ...(/connect-/.test(path) ? { agent_id: caller.agent_id } : {}),
  })
  const faultOf = conformance()
  const keyFor = (path: string) =>
    byPlatform.test(path) ? superAdminKey : byUser.test(path) ? own.key : key

  const order = (method: string) => (method === 'delete' ? 1 : 0)
  for (const { path, method, operation } of operations.toSorted(
    (a, b) => order(a.method) - order(b.method),
  )) {
    const what = `${method} ${path}`
    const values = named(path)
    const textOf = ({ name, example }: { name: string; example?: unknown }) =>
      String(values[name] ?? example)
    const parameters = operation.parameters ?? []
    const filled = parameters
      .filter((parameter) => parameter.in === 'path')
      .reduce(
        (text, parameter) =>
          text.replace(`{${parameter.name}}`, encodeURIComponent(textOf(parameter))),
        path,
      )
    const query = new URLSearchParams(
      parameters
        .filter(
          (parameter) =>
            parameter.in === 'query' &&
            (parameter.required || parameter.schema.default !== undefined),
        )
        .map((parameter): [string, string] => [
          parameter.name,
          String(values[parameter.name] ?? parameter.example ?? parameter.schema.default),
        ]),
    )
    const example = exampleIn(operation)
    const body =
      example && /connect-links/.test(path)
        ? { ...Object(example), agent_id: values.agent_id }
        : example
    const address =
      path === '/files/{content_id}' ? content.storage_url.replace(url, '') : `${filled}?${query}`
    const answer = await as(keyFor(path), method, address, body)
    const code = refused[what]
    if (code) t.equal(answer.headers['x-error-code'], code, what)
    else t.ok(answer.status < 300, `${what}: ${answer.status} ${answer.text.slice(0, 400)}`)
    t.equal(faultOf(operation, answer), undefined, what)
  }
})
