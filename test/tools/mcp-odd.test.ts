import type { ServerResponse } from 'node:http'
import t from 'tap'
import { mcpScene, namesOf, toolNamed } from '../support/mcp-scene.ts'
import { asStream, oddMcpServer, raw, schema } from '../support/odd-mcp-server.ts'
import { resultOf } from '../support/tools.ts'
import { json } from '../support/web.ts'

const nobody = { code: -32600, message: 'Invalid Request' }

const probes = {
  'HTTP 401': raw(401, 'text/plain', 'who are you'),
  'HTTP 401 and a JSON-RPC error': raw(
    401,
    'application/json',
    JSON.stringify({ jsonrpc: '2.0', id: null, error: nobody }),
  ),
  'HTTP 403': raw(403),
  'HTTP 404': raw(404),
  'HTTP 500': raw(500, 'text/html', '<h1>Oops</h1>'),
  'HTTP 503': raw(503),
  'HTTP 202': raw(202),
  'HTTP 204': raw(204),
  'a redirect': raw(307),
  'an HTML page': raw(200, 'text/html', '<html></html>'),
  'no type and no body': raw(200),
  'an error for no id': raw(
    200,
    'application/json',
    JSON.stringify({ jsonrpc: '2.0', id: null, error: nobody }),
  ),
  'an error for no id in a stream': (_: unknown, response: ServerResponse) =>
    asStream(response, JSON.stringify({ jsonrpc: '2.0', id: null, error: nobody })),
  'an error in a form of its own': raw(200, 'application/json', '{"error":"Unauthorized"}'),
  'an empty stream': raw(200, 'text/event-stream'),
  'JSON that is cut off': raw(200, 'application/json', '{"jsonrpc":"2.0","id":"serv'),
  'an end of the connection': (_: unknown, response: ServerResponse) => response.destroy(),
  silence: () => undefined,
  'a stream without an event': (_: unknown, response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders(),
}

for (const [title, answer] of Object.entries(probes))
  t.test(`a server that answers the probe with ${title} is initialized`, async (t) => {
    const server = await oddMcpServer(t, { 'server/discover': answer })
    const { toolsAt, standingAt } = await mcpScene(t, { probeMs: 100 })
    const tools = await toolsAt(server.url)
    t.strictSame(namesOf(tools), ['good'])
    t.match(await resultOf(toolNamed(tools, 'good'), {}), { ok: true, content: 'good was called' })
    t.match(standingAt(server.url), { state: 'ok' })
  })

t.test('the probe is omitted for a server that left it unanswered before', async (t) => {
  const server = await oddMcpServer(t, { 'server/discover': () => undefined })
  const { toolsAt } = await mcpScene(t, { probeMs: 100 })
  await toolsAt(server.url)
  t.equal(server.count('server/discover'), 1)
  const bearer = { Authorization: 'Bearer {{credential:TOKEN}}' }
  t.strictSame(namesOf(await toolsAt(server.url, bearer)), ['good'])
  t.equal(server.count('initialize'), 2)
  t.equal(server.count('server/discover'), 1)
})

t.test('the answer to `initialize` is reported of a server that refuses everything', async (t) => {
  const server = await oddMcpServer(t, {
    'server/discover': raw(401),
    initialize: raw(403),
  })
  const { toolsAt, standingAt } = await mcpScene(t)
  t.strictSame(namesOf(await toolsAt(server.url)), ['Double'])
  t.match(standingAt(server.url), { state: 'failing', fault: 'HTTP 403' })
})

const unreadable: [string, Parameters<typeof oddMcpServer>[1], RegExp][] = [
  ['another type', { 'tools/list': raw(200, 'text/html; charset=x', '<p>') }, /text\/html/],
  ['no type', { 'tools/list': raw(200, undefined, '{}') }, /without a content type/],
  ['JSON that is cut off', { 'tools/list': raw(200, 'application/json', '{"a":') }, /not JSON/],
  ['an empty body', { 'tools/list': raw(200, 'application/json') }, /is empty/],
  ['no message', { 'tools/list': raw(200, 'application/json', '{"x":1}') }, /no JSON-RPC message/],
  ['HTTP 202', { 'tools/list': raw(202) }, /HTTP 202/],
  [
    'a stream of no JSON',
    { 'tools/list': (_, response) => asStream(response, '{"jsonrpc":"2.0"') },
    /not JSON/,
  ],
  ['a stream that ends', { 'tools/list': raw(200, 'text/event-stream', ': hi\n\n') }, /cut off/],
  [
    'a version that is unknown',
    { initialize: { protocolVersion: '1999-01-01', capabilities: {}, serverInfo: {} } },
    /1999-01-01/,
  ],
]

for (const [title, odd, fault] of unreadable)
  t.test(`an answer of ${title} is reported as what it is`, async (t) => {
    const server = await oddMcpServer(t, odd)
    const { toolsAt, standingAt } = await mcpScene(t)
    const [only] = await toolsAt(server.url)
    t.match(only && (await resultOf(only, {})), { ok: false, content: fault })
    t.match(standingAt(server.url), { state: 'failing', fault })
  })

t.test('a call whose answer cannot be read is reported as made', async (t) => {
  const answers = [
    raw(200, 'application/json', '{"jsonrpc":"2.0","id":'),
    raw(200, 'text/html', '<p>Done</p>'),
    raw(202),
    raw(200, 'text/event-stream', ''),
    (_: unknown, response: ServerResponse) => asStream(response, '{"jsonrpc":'),
    (_: unknown, response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 })
      response.write('{"jsonrpc":"2.0",', () => response.destroy())
    },
  ]
  for (const answer of answers) {
    const server = await oddMcpServer(t, { 'tools/call': answer })
    const { toolsAt } = await mcpScene(t)
    const good = toolNamed(await toolsAt(server.url), 'good')
    const { ok, content } = await resultOf(good, {})
    t.notOk(ok)
    t.match(content, /^Double: .*; the call was made, and may have had its effect$/)
    t.equal(server.count('tools/call'), 1)
  }
})

t.test('whether a call was made is unknown after a 5xx, a silence or a reset', async (t) => {
  const answers = [
    raw(502),
    () => undefined,
    (_: unknown, response: ServerResponse) => response.destroy(),
  ]
  for (const answer of answers) {
    const server = await oddMcpServer(t, { 'tools/call': answer })
    const { toolsAt } = await mcpScene(t, { callMs: 200 })
    const good = toolNamed(await toolsAt(server.url), 'good')
    const { ok, content } = await resultOf(good, {})
    t.notOk(ok)
    t.match(content, /it is not known whether the call was made$/)
  }
})

const result = (body: unknown) => ({
  'tools/call': ({ id }: { id?: number | string }, response: ServerResponse) =>
    json(response, { jsonrpc: '2.0', id, result: body }),
})
const text = { type: 'text', text: 'It is done.' }

const odd: [string, unknown, string][] = [
  ['null in its parts', { content: [{ ...text, annotations: null, _meta: null }] }, text.text],
  [
    'null beside its parts',
    { content: [text], structuredContent: null, isError: null, _meta: null },
    text.text,
  ],
  ['an unknown role', { content: [{ ...text, annotations: { audience: ['system'] } }] }, text.text],
  ['a part without a type', { content: [{ text: 'It is done.' }] }, text.text],
  ['a part of text alone', { content: ['It is done.'] }, text.text],
  ['text alone', { content: 'It is done.' }, text.text],
  ['one part alone', { content: text }, text.text],
  ['text for its result', 'It is done.', text.text],
  ['null for its parts', { content: null, structuredContent: { n: 3 } }, '{"n":3}'],
  ['no parts', { structuredContent: { n: 3 } }, '{"n":3}'],
  ['a list as its structure', { content: [], structuredContent: [1, 2] }, '[1,2]'],
  ['a form of its own', { answer: 42 }, '{"answer":42}'],
  ['a result of the first version', { toolResult: { n: 3 } }, '{"toolResult":{"n":3}}'],
  [
    'a part of an unknown type',
    { content: [{ type: 'chart', url: 'x' }] },
    '{"type":"chart","url":"x"}',
  ],
  ['a text that is no text', { content: [{ type: 'text', text: { n: 3 } }] }, '{"n":3}'],
  [
    'an image without its type',
    { content: [{ type: 'image', data: 'x' }] },
    '[image, which is no text]',
  ],
  [
    'a link without a name',
    { content: [{ type: 'resource_link', uri: 'a:b', mimeType: null }] },
    '[a:b]',
  ],
  [
    'a resource with null',
    { content: [{ type: 'resource', resource: { uri: 'a:b', mimeType: null, text: 'Read me' } }] },
    'Read me',
  ],
  ['null', null, 'Done.'],
]

for (const [title, body, content] of odd)
  t.test(`a result with ${title} is given to the model`, async (t) => {
    const server = await oddMcpServer(t, result(body))
    const { toolsAt } = await mcpScene(t)
    const good = toolNamed(await toolsAt(server.url), 'good')
    t.match(await resultOf(good, {}), { ok: true, content })
    t.equal((await resultOf(good, {})).content, content)
  })

t.test('a response in another form than JSON-RPC has is read', async (t) => {
  const body = { content: [text] }
  const answers: [string, object, object][] = [
    ['without a version', { id: 1, result: body }, { ok: true, content: text.text }],
    ['without an id', { jsonrpc: '2.0', result: body }, { ok: true, content: text.text }],
    ['with another id', { jsonrpc: '2.0', id: 'x', result: body }, { ok: true }],
    ['with a null error', { jsonrpc: '2.0', id: 1, result: body, error: null }, { ok: true }],
    [
      'with a null result',
      { jsonrpc: '2.0', id: null, result: null, error: { code: -32000, message: 'No funds' } },
      { ok: false, content: 'Double: No funds' },
    ],
    [
      'with an error of no code',
      { jsonrpc: '2.0', id: 1, error: { message: 'No funds' } },
      { ok: false, content: 'Double: No funds' },
    ],
    ['with an error as text', { error: 'No funds' }, { ok: false, content: 'Double: No funds' }],
  ]
  for (const [title, answer, expected] of answers)
    for (const streamed of [false, true]) {
      const server = await oddMcpServer(t, {
        'tools/call': (_, response) => {
          if (streamed) asStream(response, JSON.stringify(answer))
          else json(response, answer)
        },
      })
      const { toolsAt } = await mcpScene(t, { callMs: 500 })
      const good = toolNamed(await toolsAt(server.url), 'good')
      t.match(await resultOf(good, {}), expected, title)
    }
})

t.test('notices and nonsense before an answer in the same stream are no harm', async (t) => {
  const notice = { jsonrpc: '2.0', method: 'notifications/message', params: null }
  const server = await oddMcpServer(t, {
    'tools/call': ({ id }, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${JSON.stringify(notice)}\n\ndata: nonsense\n\n`)
      const answer = { jsonrpc: '2.0', id, result: { content: [text] } }
      response.end(`event: message\r\ndata: ${JSON.stringify(answer)}\r\n\r\n`)
    },
  })
  const { toolsAt } = await mcpScene(t)
  const good = toolNamed(await toolsAt(server.url), 'good')
  t.match(await resultOf(good, {}), { ok: true, content: text.text })
})

const listed = (...tools: unknown[]) => ({ 'tools/list': { tools } })
const good = { name: 'good', inputSchema: schema }

t.test('null counts as absent in a list of tools', async (t) => {
  const nulls = {
    description: null,
    title: null,
    annotations: null,
    outputSchema: null,
    icons: null,
    execution: null,
    _meta: null,
  }
  const inputSchema = { type: 'object', properties: null, required: null, description: null }
  const server = await oddMcpServer(t, {
    'tools/list': {
      tools: [
        { ...good, ...nulls },
        { ...good, name: 'bare', inputSchema },
      ],
      nextCursor: null,
      _meta: null,
    },
  })
  const { toolsAt, standingAt } = await mcpScene(t)
  const tools = await toolsAt(server.url)
  t.strictSame(namesOf(tools), ['good', 'bare'])
  t.equal(toolNamed(tools, 'good').spec.description, 'good')
  t.strictSame(standingAt(server.url), { state: 'ok', at: 0 })
})

t.test('an odd tool is left out and named, and the others are offered', async (t) => {
  const server = await oddMcpServer(
    t,
    listed(
      good,
      { name: 'no_schema' },
      { name: 'null_schema', inputSchema: null },
      { name: 'list_schema', inputSchema: [] },
      { name: 'text_schema', inputSchema: { type: 'string' } },
      { name: 'odd_properties', inputSchema: { type: 'object', properties: [] } },
      { name: 7, inputSchema: schema },
      { inputSchema: schema },
      null,
      { ...good, name: 'odd_hints', annotations: { readOnlyHint: 'yes' }, description: 7 },
    ),
  )
  const { toolsAt, standingAt } = await mcpScene(t)
  t.strictSame(namesOf(await toolsAt(server.url)), ['good', 'odd_hints'])
  const odd = 'it has no input schema that can be used'
  t.strictSame(standingAt(server.url), {
    state: 'ok',
    at: 0,
    leftOut: [
      { tool: 'no_schema', reason: odd },
      { tool: 'null_schema', reason: odd },
      { tool: 'list_schema', reason: odd },
      { tool: 'text_schema', reason: odd },
      { tool: 'odd_properties', reason: odd },
      { tool: '(number 7)', reason: 'it has no name' },
      { tool: '(number 8)', reason: 'it has no name' },
      { tool: '(number 9)', reason: 'it has no name' },
    ],
  })
})

t.test('a tool whose headers deviate is left out and named, and nothing is written', async (t) => {
  const levels = ['debug', 'warn'] as const
  const logs = levels.map((name) => t.capture(console, name))
  const property = (name: unknown, type = 'string') => ({ type, 'x-mcp-header': name })
  const withHeaders = (name: string, properties: object, more: object = {}) => ({
    name,
    inputSchema: { type: 'object', properties, ...more },
  })
  const inner = { type: 'object', properties: { region: property('Region') } }
  const tools = [
    good,
    withHeaders('proper', { tenant: property('Tenant'), inner }),
    withHeaders('blank', { a: property('not a name') }),
    withHeaders('number', { a: property('A', 'number') }),
    withHeaders('twice', { a: property('A'), b: property('a') }),
    withHeaders('misplaced', { a: { type: 'array', items: property('A') } }),
    withHeaders('root', {}, { 'x-mcp-header': 'A' }),
  ]
  const server = await oddMcpServer(t, {
    'server/discover': {
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
      serverInfo: { name: 'modern', version: '1' },
      ttlMs: 0,
      cacheScope: 'private',
    },
    'tools/list': { tools, resultType: 'complete', ttlMs: 0, cacheScope: 'private' },
  })
  const { toolsAt, standingAt } = await mcpScene(t)
  t.strictSame(namesOf(await toolsAt(server.url)), ['good', 'proper'])
  t.equal(server.count('initialize'), 0)
  const { leftOut = [] } = standingAt(server.url)
  t.strictSame(
    leftOut.map(({ tool }) => tool),
    ['blank', 'number', 'twice', 'misplaced', 'root'],
  )
  const without = await oddMcpServer(t, {
    initialize: { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: {} },
  })
  t.strictSame(namesOf(await toolsAt(without.url)), [])
  t.match(standingAt(without.url), { state: 'ok' })
  t.strictSame(
    logs.flatMap((calls) => calls()),
    [],
  )
})

t.test('the first hundred tools are offered, and the others named', async (t) => {
  const tools = [...Array(130)].map((_, n) => ({ ...good, name: `tool_${n}` }))
  const server = await oddMcpServer(t, listed(...tools))
  const { toolsAt, standingAt } = await mcpScene(t)
  t.equal((await toolsAt(server.url)).length, 100)
  const standing = standingAt(server.url)
  t.match(standing, { state: 'ok' })
  if (standing.state !== 'ok') return
  t.match(standing.leftOut?.[0], { tool: 'tool_100', reason: 'the server has more than 100 tools' })
  t.equal(standing.leftOut?.length, 20, 'as many as are named')
})

t.test('the name of an omitted tool contains no credential', async (t) => {
  const server = await oddMcpServer(t, {
    'tools/list': ({ id }, response, { headers }) =>
      json(response, {
        jsonrpc: '2.0',
        id,
        result: { tools: [good, { name: `odd ${headers.authorization} ${'x'.repeat(300)}` }] },
      }),
  })
  const { mcp, toolsAt } = await mcpScene(t)
  const headers = { Authorization: 'Bearer {{credential:TOKEN}}' }
  await toolsAt(server.url, headers)
  const standing = mcp.standingOf('org-1', { name: 'Double', url: server.url, headers })
  t.match(standing, { leftOut: [{ tool: /^odd Bearer \[TOKEN\] x+/ }] })
  t.ok(JSON.stringify(standing).length < 300)
})

t.test('a cursor that does not advance repeats no tool', async (t) => {
  for (const nextCursor of ['', 'same']) {
    const server = await oddMcpServer(t, { 'tools/list': { tools: [good, good], nextCursor } })
    const { toolsAt } = await mcpScene(t)
    t.strictSame(namesOf(await toolsAt(server.url)), ['good'])
    t.ok(server.count('tools/list') <= 2)
  }
})

t.test('a list without an end is reported as such', async (t) => {
  let page = 0
  const server = await oddMcpServer(t, {
    'tools/list': ({ id }, response) => {
      const tools = [{ ...good, name: `tool_${page++}` }]
      json(response, { jsonrpc: '2.0', id, result: { tools, nextCursor: `${page}` } })
    },
  })
  const { toolsAt, standingAt } = await mcpScene(t)
  await toolsAt(server.url)
  t.match(standingAt(server.url), { state: 'failing', fault: 'its list of tools does not end' })
  t.ok(page <= 64)
})

t.test('`initialize` is answered with the least that a client needs', async (t) => {
  for (const more of [
    { capabilities: null, serverInfo: null, instructions: null },
    { capabilities: { tools: null, logging: null }, serverInfo: { name: 'odd', version: null } },
    {},
  ]) {
    const server = await oddMcpServer(t, {
      initialize: { protocolVersion: '2025-06-18', ...more },
    })
    const { toolsAt } = await mcpScene(t)
    t.strictSame(namesOf(await toolsAt(server.url)), ['good'])
  }
})

t.test('a session that is refused with 400 is begun anew', async (t) => {
  let forgotten = false
  const server = await oddMcpServer(t, {
    initialize: ({ id }, response) => {
      forgotten = false
      const result = {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'odd', version: '1' },
      }
      json(response, { jsonrpc: '2.0', id, result }, 200, { 'mcp-session-id': 'one' })
    },
    'tools/call': ({ id }, response) => {
      const error = { code: -32000, message: 'Bad Request: No valid session ID provided' }
      if (forgotten) json(response, { jsonrpc: '2.0', id: null, error }, 400)
      else json(response, { jsonrpc: '2.0', id, result: { content: [text] } })
    },
  })
  const { toolsAt } = await mcpScene(t)
  const tools = await toolsAt(server.url)
  forgotten = true
  t.match(await resultOf(toolNamed(tools, 'good'), {}), { ok: true, content: text.text })
  t.equal(server.count('initialize'), 2)
})

t.test('tools whose names become equal for models have distinct names', async (t) => {
  const long = 'a'.repeat(64)
  const names = ['get.user', 'get user', 'get/user', 'get_user', `${long}_1`, `${long}_2`, long]
  const tools = names.map((name) => ({ ...good, name }))
  const called = async (all: typeof tools) => {
    const server = await oddMcpServer(t, listed(...all))
    const { toolsAt } = await mcpScene(t)
    const offered = await toolsAt(server.url)
    for (const { spec } of offered) t.match(spec.name, /^[A-Za-z0-9_-]{1,64}$/)
    const calls = offered.map(async (tool) => [
      tool.spec.name,
      (await resultOf(tool, {})).content.replace(' was called', ''),
    ])
    return Object.fromEntries(await Promise.all(calls))
  }
  const byName = await called(tools)
  t.strictSame(new Set(Object.values(byName)), new Set(names))
  t.equal(byName.get_user, 'get_user', 'an exact name stays')
  t.equal(byName[long], long)
  t.strictSame(await called(tools.toReversed()), byName, 'whatever the order')
})
