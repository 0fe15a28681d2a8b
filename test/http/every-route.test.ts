import t from 'tap'
import { scopes } from '../../src/domain/api-key/scopes.ts'
import { superAdminKey } from '../support/platform.ts'
import { type Answer, raw } from '../support/raw.ts'
import { startApp } from '../support/server.ts'

const id = '0198c0de-0000-7000-8000-000000000001'
const odd = ['%00%F0%9F%98%80', '__proto__', 'x'.repeat(3_000)]
const oddText = `\0\ud800${'x'.repeat(20_000)}`

const queries = [
  'page=x&page_size=-1&limit=1e9&offset=-1&after=-1&size=x&index=-1',
  `on_behalf_of=${'x'.repeat(3_000)}&agent_type=x&status=x&content_type=a&content_type=b`,
  'is_active=7&include_hidden=7&from=x&to=x&as_of=x&force=7&email=%00',
]

/** A value for every name that a body might know. */
const bodyOf = (value: unknown) => {
  const names =
    'name email owner files datastore_id display_name message messages amount reason plan scopes ' +
    'value instruction agent_id return_url organization_id query tools sub_agents description ' +
    'provider subject type user_id role session_id settings limit rate_limit_minute expires_at'
  return JSON.stringify(Object.fromEntries(names.split(' ').map((name) => [name, value])))
}
const bodies = [
  '{',
  '[]',
  'null',
  '{}',
  ...[null, oddText, [], {}, -1e308, [[oddText]]].map(bodyOf),
]

/** What is wrong with an answer, whatever was asked. */
const faultOf = ({ status, headers, text }: Answer): string | undefined => {
  const refused = status >= 400
  if (status >= 500 && status !== 501) return `${status} ${text.slice(0, 200)}`
  if (refused !== (headers['x-error-code'] !== undefined)) return `${status} and its code`
  return /node_modules|\bat .+:\d+:\d+\)/.test(text) ? 'tells where it broke' : undefined
}

t.test('no route is brought down by what it is sent', async (t) => {
  const { url, platform } = await startApp(t)
  const ask = raw(url)
  const { paths } = (await ask('/api/openapi.json')).body
  for (const [path, methods] of Object.entries<object>(paths)) {
    const known = path.replace(/\{\w+\}/g, id)
    const strange = path === known ? [] : odd.map((one) => path.replace(/\{\w+\}/g, one))
    for (const method of Object.keys(methods)) {
      const organization = await platform.organization()
      const keys = [
        superAdminKey,
        (await organization.key({ scopes })).key,
        (await organization.key({ scopes, type: 'user' })).key,
      ]
      const asked: { at: string; body?: string }[] = [
        ...strange.map((at) => ({ at })),
        ...queries.map((query) => ({ at: `${known}?${query}` })),
        ...(method === 'get' ? [] : bodies.map((body) => ({ at: known, body }))),
      ]
      for (const { at, ...body } of asked)
        for (const key of keys) {
          const headers = { 'x-api-key': key, 'content-type': 'application/json' }
          const answer = await ask(at, { method: method.toUpperCase(), headers, ...body })
          const wrong = faultOf(answer)
          if (wrong) t.fail(`${wrong}: ${method} ${at.slice(0, 120)} ${body.body?.slice(0, 60)}`)
        }
    }
    t.pass(path)
  }
})
