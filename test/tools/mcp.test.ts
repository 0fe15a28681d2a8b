import t from 'tap'
import { mcpScene, namesOf, secret, toolNamed } from '../support/mcp-scene.ts'
import { mcpServer } from '../support/mcp-server.ts'
import { call } from '../support/recorded.ts'
import { resultOf } from '../support/tools.ts'
import { errorsCounted } from '../support/validation-errors.ts'
import { json, web } from '../support/web.ts'
import { wideMcpServer } from '../support/wide-mcp-server.ts'

const bearer = { Authorization: 'Bearer {{credential:TOKEN}}' }

t.test("a server's tools are listed and called", async (t) => {
  const server = await mcpServer(t)
  const { toolsAt } = await mcpScene(t)
  const tools = await toolsAt(server.url)
  t.ok(namesOf(tools).includes('add'))
  t.match(toolNamed(tools, 'add').spec, {
    description: 'Adds two numbers',
    parameters: { type: 'object', properties: { a: { type: 'number' } }, required: ['a', 'b'] },
  })
  const reached = { host: server.host }
  const resultFrom = (name: string, args = {}) => resultOf(toolNamed(tools, name), args)
  t.strictSame(await resultFrom('add', { a: 1, b: 2 }), { ok: true, content: '3', reached })
  t.strictSame(await resultFrom('draws'), {
    ok: true,
    content: 'Here:\n[image/png, which is no text]',
    reached,
  })
  t.strictSame(await resultFrom('counts'), { ok: true, content: '{"n":3}', reached })
  t.match(await resultFrom('breaks'), { ok: false, content: 'no: undefined' })
  t.match(await resultFrom('add', { a: 'x' }), { ok: false })
  t.equal(server.count('initialize'), 1, 'over one connection')
})

t.test("a server's annotations, its settings and those of one tool make the policy", async (t) => {
  const server = await mcpServer(t)
  const { mcp } = await mcpScene(t)
  const place = { name: 'Double', url: server.url, headers: {} }
  const policies = async (more: object) => {
    const [listing] = await mcp.toolsOf([{ ...place, ...more }], call)
    const of = (name: string) => toolNamed(listing?.tools ?? [], name).policy
    return { add: of('add'), whoami: of('whoami'), breaks: of('breaks') }
  }
  const usual = { keyed: false, onUnknown: 'tell' }
  t.strictSame(await policies({}), {
    add: { ...usual, effect: 'read' },
    whoami: { ...usual, effect: 'read' },
    breaks: { ...usual, effect: 'write' },
  })
  const approval = { approver: 'admin', ttlSeconds: 86_400 }
  const own = { add: { requiresApproval: false }, breaks: { onUnknown: 'ask', approvalTtl: 60 } }
  t.match(await policies({ requiresApproval: true, approver: 'admin', tools: own }), {
    add: { ...usual, effect: 'read', approval: undefined },
    whoami: { ...usual, effect: 'read', approval },
    breaks: {
      keyed: false,
      effect: 'write',
      onUnknown: 'ask',
      approval: { ...approval, ttlSeconds: 60 },
    },
  })
})

t.test('a list is kept, for all users of the organization', async (t) => {
  const server = await mcpServer(t)
  const { toolsAt, advance } = await mcpScene(t, { listMs: 1_000 })
  await Promise.all([toolsAt(server.url), toolsAt(server.url)])
  await toolsAt(server.url, {}, { ...call, userId: 'user-2' })
  t.equal(server.count('tools/list'), 1)
  await toolsAt(server.url, {}, { ...call, organizationId: 'org-2' })
  t.equal(server.count('tools/list'), 2)
  advance(1_000)
  await toolsAt(server.url)
  t.equal(server.count('tools/list'), 3)
})

t.test('each user has a session of their own, and their own credential', async (t) => {
  const server = await mcpServer(t)
  const { toolsAt, values } = await mcpScene(t)
  const firstTool = toolNamed(await toolsAt(server.url, bearer), 'whoami')
  t.match(await resultOf(firstTool, {}), { ok: true, content: 'you sent Bearer [TOKEN]' })
  const other = { ...call, userId: 'user-2' }
  const secondTool = toolNamed(await toolsAt(server.url, bearer, other), 'whoami')
  t.match(await resultOf(secondTool, {}, { call: other }), { ok: true, content: /\[TOKEN\]$/ })
  t.equal(server.sessions.size, 2)
  const sent = new Set(server.requests.map(({ headers }) => headers.authorization))
  t.strictSame(sent, new Set([`Bearer ${secret}`, `Bearer ${secret}-of-another`]))

  values.set('org-1/user-1/TOKEN', 'rotated-value')
  t.match(await resultOf(firstTool, {}), { ok: true, content: 'you sent Bearer [TOKEN]' })
  t.equal(server.requests.at(-1)?.headers.authorization, 'Bearer rotated-value')
})

t.test('no error repeats a credential', async (t) => {
  const server = await mcpServer(t)
  const refusing = await mcpServer(t, { authorization: 'Bearer right' })
  const { toolsAt } = await mcpScene(t)
  const tools = await toolsAt(server.url, bearer)
  for (const name of ['breaks', 'throws']) {
    const { ok, content } = await resultOf(toolNamed(tools, name), {})
    t.notOk(ok)
    t.match(content, /Bearer \[TOKEN\]/)
    t.notMatch(content, secret)
  }
  const [refused] = await toolsAt(refusing.url, bearer)
  t.match(refused && (await resultOf(refused, {})), { ok: false, content: 'Double: HTTP 401' })
})

t.test('a missing credential is named, and asked for again', async (t) => {
  const server = await mcpServer(t)
  const { toolsAt, values } = await mcpScene(t)
  const headers = { 'X-Key': '{{credential:OTHER}}' }
  const tools = await toolsAt(server.url, headers)
  t.strictSame(namesOf(tools), ['Double'])
  t.match(await resultOf(toolNamed(tools, 'Double'), {}), {
    ok: false,
    content: 'Double: the credential OTHER is missing: the user has not stored it',
  })
  t.equal(server.requests.length, 0)
  values.set('org-1/user-1/OTHER', 'here')
  const offered = await toolsAt(server.url, headers)
  t.ok(namesOf(offered).includes('whoami'))
  values.delete('org-1/user-1/OTHER')
  t.match(await resultOf(toolNamed(offered, 'whoami'), {}), {
    ok: false,
    content: /the credential OTHER is missing/,
  })
})

t.test('a server that is down is an error of its tools', async (t) => {
  const server = await mcpServer(t)
  const closed = await web(t, () => undefined)
  await closed.close()
  const { toolsAt, advance } = await mcpScene(t, { listMs: 1_000, retryMs: 100 })
  const tools = await toolsAt(server.url)
  await server.close()
  const down = { ok: false, content: 'Double: it could not be reached' }
  t.strictSame(await resultOf(toolNamed(tools, 'add'), { a: 1, b: 2 }), {
    ...down,
    reached: { host: server.host },
  })
  advance(1_000)
  t.strictSame(namesOf(await toolsAt(server.url)), namesOf(tools), 'the last list stands')

  const missing = await toolsAt(closed.url)
  t.strictSame(namesOf(missing), ['Double'])
  t.strictSame(await resultOf(toolNamed(missing, 'Double'), {}), down)
})

t.test('a server that hangs costs a bounded time', async (t) => {
  const server = await mcpServer(t)
  const silent = await web(t, () => undefined)
  const { toolsAt } = await mcpScene(t, { connectMs: 200, callMs: 200 })
  const [only] = await toolsAt(silent.url)
  t.match(only && (await resultOf(only, {})), { ok: false, content: /did not answer in time/ })
  const tools = await toolsAt(server.url)
  t.match(await resultOf(toolNamed(tools, 'stalls'), {}), {
    ok: false,
    content: 'Double: it did not answer in time',
  })
  t.match(await resultOf(toolNamed(tools, 'add'), { a: 1, b: 1 }), { ok: true, content: '2' })
})

t.test('a site that is no MCP server is an error too', async (t) => {
  const { toolsAt } = await mcpScene(t)
  const answers: [number, string, string][] = [
    [200, 'text/html', '<html>'],
    [200, 'application/json', '{"x":1}'],
    [200, 'application/json', 'not json'],
    [500, 'text/plain', 'oops'],
    [302, 'text/plain', ''],
  ]
  for (const [status, type, body] of answers) {
    const site = await web(t, (_, response) =>
      response
        .writeHead(status, { 'content-type': type, location: 'http://169.254.169.254/' })
        .end(body),
    )
    const [only] = await toolsAt(site.url)
    t.match(only && (await resultOf(only, {})), { ok: false, content: /^Double: / }, `${status}`)
  }
  for (const url of ['https://127.0.0.2/', 'not a url', 'https://[::1]/']) {
    const [only] = await toolsAt(url)
    t.match(only && (await resultOf(only, {})), { ok: false, content: /^Double: / }, url)
  }
})

t.test('a session that the server has forgotten is begun anew', async (t) => {
  const server = await mcpServer(t)
  const { toolsAt } = await mcpScene(t)
  const tools = await toolsAt(server.url)
  server.sessions.clear()
  t.match(await resultOf(toolNamed(tools, 'add'), { a: 1, b: 2 }), { ok: true, content: '3' })
  t.equal(server.count('initialize'), 2)
})

t.test('an idle connection is closed, and its session ended', async (t) => {
  const server = await mcpServer(t)
  const { mcp, toolsAt } = await mcpScene(t)
  await toolsAt(server.url)
  t.equal(server.sessions.size, 1)
  await mcp.close()
  t.equal(server.sessions.size, 0)
  t.equal(server.requests.at(-1)?.method, 'DELETE')
})

t.test('a result names the host and the credentials that the call used', async (t) => {
  const server = await mcpServer(t)
  const { toolsAt } = await mcpScene(t)
  const tools = await toolsAt(server.url, bearer)
  const { host } = server
  t.match(await resultOf(toolNamed(tools, 'add'), { a: 1, b: 2 }), {
    ok: true,
    reached: { host, credentials: ['TOKEN'], httpStatus: undefined },
  })
  const open = await toolsAt(server.url)
  t.match(await resultOf(toolNamed(open, 'add'), { a: 1, b: 2 }), {
    reached: { host, credentials: undefined },
  })
  t.match(await resultOf(toolNamed(open, 'add'), { a: 'x' }), { ok: false, reached: { host } })
})

t.test(
  'a stream that is cut off is opened again five times for a call, whatever the server says',
  async (t) => {
    const cut = { 'content-type': 'text/event-stream' }
    const site = await web(t, ({ method, body }, response) => {
      const { id, method: requested } = body === '' ? { id: 0, method: '' } : JSON.parse(body)
      const answer = (result: object) => json(response, { jsonrpc: '2.0', id, result })
      if (method === 'DELETE') response.writeHead(200).end()
      else if (requested === 'initialize')
        answer({
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'cuts', version: '1' },
        })
      else if (requested === 'tools/list')
        answer({ tools: [{ name: 'cuts', inputSchema: { type: 'object' } }] })
      else if (requested === 'tools/call' || method === 'GET')
        response.writeHead(200, cut).end('retry: 0\nid: 1\ndata: \n\n')
      else if (id === undefined) response.writeHead(202).end()
      else json(response, { jsonrpc: '2.0', id, error: { code: -32601, message: 'unknown' } }, 404)
    })
    const { toolsAt } = await mcpScene(t, { reconnectMs: 1, callMs: 2_000 })
    const cuts = toolNamed(await toolsAt(site.url), 'cuts')
    const reconnects = () => site.requests.filter(({ method }) => method === 'GET').length
    t.match(await resultOf(cuts, {}), { ok: false })
    t.equal(reconnects(), 5)
    t.match(await resultOf(cuts, {}), { ok: false })
    t.equal(reconnects(), 10, 'as many for the next call')
  },
)

const zeros = (count: number): number[] => Array(count).fill(0)

t.test('validation of an answer with thousands of errors ends after a few', async (t) => {
  const audience = { type: 'text', text: 'x', annotations: { audience: zeros(9_000) } }
  const server = await wideMcpServer(t, {
    zeros: { content: zeros(40_000) },
    audience: { content: [audience] },
    rest: { content: [{ type: 'text', text: 'x' }], _meta: { all: zeros(3_000) } },
    more: { content: [], structuredContent: { all: zeros(60_000) } },
    structure: { content: [], structuredContent: { all: zeros(10_000) } },
    many: { content: zeros(300).map((_, n) => ({ type: 'text', text: `${n}` })) },
  })
  const { toolsAt } = await mcpScene(t)
  const tools = await toolsAt(server.url)
  const answer = async (name: string) => (await resultOf(toolNamed(tools, name), {})).content
  const { errors } = await errorsCounted(async () => {
    t.match(await answer('zeros'), /^Double: /)
    t.equal(await answer('audience'), 'x')
    t.equal(
      await answer('rest'),
      'Double: the answer has more than 2000 values; the call was made, and may have had its effect',
    )
    t.match(await answer('more'), /^Double: /)
    t.match(await answer('structure'), /^\{"all":\[0,0,/)
    t.match(await answer('many'), /\n199\n\[cut: the first 200 of 300 parts\]$/)
  })
  t.ok(errors <= 2_000, `${errors} errors`)
})

t.test('the list omits a tool with a schema that is too wide or invalid', async (t) => {
  const schema = { type: 'object', properties: {}, required: [] }
  const properties = Object.fromEntries(zeros(6_000).map((_, n) => [`p${n}`, {}]))
  const tools = [
    { name: 'good', inputSchema: schema, icons: zeros(2_000) },
    { name: 'wide', inputSchema: { ...schema, properties } },
    { name: 'zeros', inputSchema: { ...schema, properties: { a: 0 } } },
    { name: 'required', inputSchema: { ...schema, required: [0] } },
    { name: 'none' },
    0,
  ]
  const server = await wideMcpServer(t, {}, { 'tools/list': { tools } })
  const { toolsAt, advance } = await mcpScene(t, { listMs: 1, retryMs: 1 })
  t.strictSame(namesOf(await toolsAt(server.url)), ['good'])
  const wide = await wideMcpServer(t, {}, { 'tools/list': { tools: zeros(1_001) } })
  advance(10)
  const { errors } = await errorsCounted(async () => {
    t.strictSame(namesOf(await toolsAt(wide.url)), ['Double'])
  })
  t.ok(errors < 20, `${errors} errors`)
})

t.test('a description is cut between grapheme clusters, and has no half of a pair', async (t) => {
  const inputSchema = {
    type: 'object',
    properties: { a: { type: 'string', description: 'half \ud83d' } },
  }
  const tools = [{ name: 'flags', description: `\udc00${'🇩🇪'.repeat(300)}`, inputSchema }]
  const server = await wideMcpServer(t, {}, { 'tools/list': { tools } })
  const { toolsAt } = await mcpScene(t)
  t.match(toolNamed(await toolsAt(server.url), 'flags').spec, {
    description: `\ufffd${'🇩🇪'.repeat(255)}`,
    parameters: { properties: { a: { description: 'half \ufffd' } } },
  })
})
