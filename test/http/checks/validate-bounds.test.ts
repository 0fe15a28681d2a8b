import t from 'tap'
import { mostErrors } from '../../../src/support/bounded-schema.ts'
import { raw } from '../../support/raw.ts'
import { startApp } from '../../support/server.ts'
import { connect } from '../../support/socket.ts'
import { errorsCounted } from '../../support/validation-errors.ts'

const chat = '/api/external/v1/chat/completions'
const responses = '/api/external/v1/responses'
const zeros = (count: number): number[] => Array(count).fill(0)
const numbered = (count: number) =>
  Object.fromEntries(zeros(count).map((_, n) => [`field_${n}`, 0]))
const fault = (code: string) => ({ status: 400, headers: { 'x-error-code': code } })

const scene = async (t: Parameters<typeof startApp>[0]) => {
  const { url, platform } = await startApp(t)
  const organization = await platform.organization({ credits: 1_000 })
  const { key } = await organization.key({
    type: 'user',
    scopes: [
      'admin:read',
      'admin:write',
      'agents:invoke',
      'agents:list',
      'orchestrator:invoke',
      'orchestrator:stream',
      'sessions:read',
    ],
  })
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  const admin = `/api/admin/organizations/${organization.organizationId}`
  const get = (path: string) => raw(url)(path, { headers: { 'x-api-key': key } })
  const post = (path: string, body: object, more = {}) =>
    raw(url)(path, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) })
  return { url, key, admin, get, post }
}

t.test(
  'a body with more values than its route takes is refused before it is checked',
  async (t) => {
    const { admin, post } = await scene(t)
    const messagesWith = (content: unknown) => [{ role: 'user', content }]
    const text = { type: 'text', text: 'x' }
    const cases: [string, object][] = [
      [`${admin}/agents`, { name: 'A', ...numbered(20_000) }],
      [`${admin}/agents`, { name: 'A', mcp_servers: [{ tools: numbered(2_000) }] }],
      [`${admin}/api-keys`, { name: 'A', scopes: zeros(2_000) }],
      [chat, { messages: zeros(50_000) }],
      [chat, { messages: messagesWith(zeros(2_000)) }],
      [chat, { messages: messagesWith(Array(667).fill(text)) }],
      [chat, { messages: [{ role: 'system', content: zeros(2_000) }] }],
      [chat, { messages: messagesWith('x'), tools: zeros(20_000) }],
      [responses, { input: zeros(50_000) }],
      [responses, { input: [{ role: 'user', content: zeros(2_000) }] }],
      [responses, { input: 'x', metadata: numbered(100) }],
    ]
    const { errors } = await errorsCounted(async () => {
      for (const [path, body] of cases) t.match(await post(path, body), fault('too_complex'), path)
    })
    t.ok(errors < 20, `${errors} errors`)
  },
)

t.test('validation of a long array ends after the first errors', async (t) => {
  const { admin, post } = await scene(t)
  const bad = { role: 'user', content: zeros(600) }
  const cases: [string, object, string][] = [
    [`${admin}/agents`, { name: 'A', tools: zeros(64) }, 'invalid_input'],
    [`${admin}/agents`, { name: 'A', sub_agents: zeros(100) }, 'invalid_input'],
    [chat, { messages: zeros(40_000) }, 'invalid_input'],
    [chat, { messages: Array(60).fill(bad) }, 'invalid_input'],
    [responses, { input: zeros(40_000) }, 'invalid_input'],
  ]
  for (const [path, body, code] of cases) {
    const { errors } = await errorsCounted(async () => {
      t.match(await post(path, body), fault(code), path)
    })
    t.ok(errors <= 100, `${errors} errors of ${path}`)
  }
})

t.test('a refusal names at most five errors, and 200 characters of each name', async (t) => {
  const { admin, post, get } = await scene(t)
  const long = 'x'.repeat(5_000)
  const users = '/api/external/rag/datastores'
  const unknown = await post(`${admin}/agents`, { name: 'A', ...numbered(10_000), [long]: 0 })
  t.match(unknown, fault('invalid_input'))
  t.ok(unknown.text.length < 2_000)
  t.match(unknown.text, /Unknown: field_0/)
  t.match(unknown.text, /and 9996 more/)
  const name = await post(`${admin}/agents`, { name: 'A', [long]: 0 })
  t.match(name, fault('invalid_input'))
  t.ok(name.text.length < 2_000)
  for (const path of [users, `${admin}/api-keys`, '/api/external/sessions'])
    t.ok((await get(`${path}?${long}=1&b=2&c=3&d=4&e=5&f=6&g=7`)).text.length < 16_384)
  t.equal(mostErrors, 5)
})

t.test('a query of more than 100 parameters is refused before validation', async (t) => {
  const { get } = await scene(t)
  const query = (count: number) =>
    zeros(count)
      .map((_, n) => `p${n}`)
      .join('&')
  for (const path of ['/api/external/sessions', '/api/health', '/nowhere'])
    t.match(await get(`${path}?${query(101)}`), fault('too_complex'), path)
  t.match(await get(`/api/health?${query(100)}`), { status: 200 })
  t.match(await get('/api/external/sessions?page=%zz'), fault('invalid_query'))
  t.match(await get('/api/external/sessions?page=%31&page_size=2'), { status: 200 })
})

t.test(
  'a frame with more values than a message may have is refused before validation',
  async (t) => {
    const { url, key } = await scene(t)
    const socket = await connect(url, { 'x-api-key': key })
    await socket.until('authenticated')
    const { errors } = await errorsCounted(async () => {
      for (const content of [zeros(2_000), zeros(199_000)]) {
        socket.send({ type: 'message', content })
        t.match((await socket.until('error')).at(-1), { error: { code: 'too_complex' } })
      }
    })
    t.ok(errors < 20, `${errors} errors`)
    socket.ws.close()
  },
)

t.test(
  'a message of MCP with more than 2,000 values besides its arguments is refused',
  async (t) => {
    const { post } = await scene(t)
    const accept = { accept: 'application/json, text/event-stream' }
    const initialize = (icons: number[]) => ({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'a', version: '1', icons },
      },
    })
    const mcp = (body: object) => post('/api/external/mcp', body, accept)
    const { errors } = await errorsCounted(async () => {
      t.match(await mcp(initialize(zeros(2_000))), fault('too_complex'))
      t.match(await mcp(initialize(zeros(199_000))), fault('too_complex'))
    })
    t.ok(errors < 20, `${errors} errors`)
    const call = (args: object) => ({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'none', arguments: args },
    })
    t.match(await mcp(call(numbered(5_000))), { status: 200 })
  },
)
