import t, { type Test } from 'tap'
import { guardedOutbound } from '../../src/adapters/outbound/guarded.ts'
import type { ApiCallConfig } from '../../src/domain/agent/events.ts'
import { apiCalls } from '../../src/tools/api-call.ts'
import { credentialHeaders } from '../../src/tools/credential-headers.ts'
import { jsonSchemas } from '../../src/tools/json-schemas.ts'
import { fixedClock } from '../support/agents.ts'
import { call } from '../support/recorded.ts'
import { outputsOf, resultOf } from '../support/tools.ts'
import { json, type WebRequest, web } from '../support/web.ts'

type Answer = Parameters<typeof web>[1]

const secret = 'tok_5e/cr"et+value'

/** A site on loopback, and tools that may call it. user-1 of org-1 has a TOKEN. */
const callScene = async (t: Test, answer: Answer, limits: { totalMs?: number } = {}) => {
  const site = await web(t, answer)
  const outbound = guardedOutbound({ allowHosts: [site.host] })
  t.teardown(outbound.close)
  const schemas = jsonSchemas()
  t.teardown(schemas.close)
  const find = async (...path: string[]) =>
    path.join('/') === 'org-1/user-1/TOKEN' ? { value: secret, hosts: [site.host] } : undefined
  const apiCall = apiCalls({
    outbound,
    credentialHeaders: credentialHeaders({ findCredential: find }),
    misfitOf: schemas.misfitOf,
    clock: fixedClock(),
    ...limits,
  })
  const tool = (config: Partial<ApiCallConfig> = {}) =>
    apiCall({
      type: 'api_call',
      name: 'weather',
      description: 'The weather of a city',
      method: 'GET',
      url: `${site.url}/`,
      headers: {},
      parameters: {},
      ...config,
    })
  return { ...site, tool }
}

const echo: Answer = ({ method, url, body }, response) => json(response, { method, url, body })

t.test('arguments fill the address, the query and the body', async (t) => {
  const { url, tool } = await callScene(t, echo)
  const sent = async (config: Partial<ApiCallConfig>, args: object) =>
    JSON.parse((await resultOf(tool(config), { ...args })).content)
  const at = `${url}/v1/{city}/now?unit={unit}`
  t.match(await sent({ url: at }, { city: 'São Paulo/../x', unit: "a&b='c'", days: 3, on: [1] }), {
    method: 'GET',
    url: '/v1/S%C3%A3o%20Paulo%2F..%2Fx/now?unit=a%26b%3D%27c%27&days=3&on=%5B1%5D',
    body: '',
  })
  t.match(await sent({ url: at, method: 'post' }, { city: 'x', unit: 'y', n: 1, o: { p: [2] } }), {
    method: 'POST',
    url: '/v1/x/now?unit=y',
    body: '{"n":1,"o":{"p":[2]}}',
  })
  t.match(await sent({ url: at, method: 'DELETE' }, { city: true, unit: 0 }), {
    method: 'DELETE',
    url: '/v1/true/now?unit=0',
    body: '',
  })
})

t.test('a call carries its key, where the agent says in which header', async (t) => {
  const { requests, tool } = await callScene(t, echo)
  const order = tool({ method: 'POST', idempotencyHeader: 'Idempotency-Key' })
  await resultOf(order, { n: 1 }, { idempotencyKey: 'one' })
  await resultOf(order, { n: 1 }, { idempotencyKey: 'two' })
  await resultOf(tool({ method: 'POST' }), { n: 1 }, { idempotencyKey: 'three' })
  t.strictSame(
    requests.map(({ headers }) => headers['idempotency-key']),
    ['one', 'two', undefined],
  )
})

t.test('what is not said of a call follows from its method', async (t) => {
  const { tool } = await callScene(t, echo)
  const usual = { keyed: false, onUnknown: 'tell' }
  t.strictSame(tool({ method: 'get' }).policy, { ...usual, effect: 'read' })
  t.strictSame(tool({ method: 'HEAD' }).policy, { ...usual, effect: 'read' })
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
    t.strictSame(tool({ method }).policy, { ...usual, effect: 'write' }, method)
  const settings = { effect: 'write', onUnknown: 'ask', requiresApproval: true } as const
  t.match(tool({ ...settings, approver: 'admin', approvalTtl: 60 }).policy, {
    effect: 'write',
    keyed: false,
    onUnknown: 'ask',
    approval: { approver: 'admin', ttlSeconds: 60 },
  })
  t.match(tool({ requiresApproval: true, idempotencyHeader: 'x-key' }).policy, {
    ...usual,
    effect: 'read',
    keyed: true,
    approval: { approver: 'user', ttlSeconds: 86_400 },
  })
  t.notOk(tool({ requiresApproval: false, approver: 'admin' }).policy?.approval)
  const definition = (more: Partial<ApiCallConfig>) =>
    tool({ requiresApproval: true, ...more }).definition?.()
  t.match(definition({}), /^[\da-f]{64}$/)
  t.equal(definition({ description: 'a' }), definition({ description: 'b', approvalTtl: 9 }))
  t.equal(definition({}), definition({ requiresApproval: false }))
  for (const more of [
    { method: 'POST' },
    { url: 'https://other.example/' },
    { headers: { a: 'b' } },
    { parameters: { type: 'object' } },
    { idempotencyHeader: 'x-key' },
  ])
    t.not(definition(more), definition({}), JSON.stringify(more))
})

t.test('no value leaves its place in the address', async (t) => {
  const { url, requests, tool } = await callScene(t, echo)
  const at = `${url}/users/{id}/public`
  for (const id of ['..', '.', '', undefined, null, {}, ['a']])
    t.match(await resultOf(tool({ url: at }), { id }), { ok: false }, JSON.stringify(id))
  t.match(await resultOf(tool({ url: `${url}/x/.{id}` }), { id: '.' }), { ok: false })
  for (const template of [
    'http://{host}/',
    `http://127.0.0.1:{port}/`,
    `{id}`,
    `http://{id}@127.0.0.1/`,
    `http:/{id}`,
    'ftp://127.0.0.1/{id}',
    'https://\\{id}',
    '',
  ])
    t.match(
      await resultOf(tool({ url: template }), { id: 'x', host: 'x', port: '1' }),
      { ok: false, content: 'the address of this tool is not usable' },
      template,
    )
  t.equal(requests.length, 0)
})

t.test('arguments are checked against the parameters', async (t) => {
  const { requests, tool } = await callScene(t, echo)
  const parameters = {
    $id: 'same',
    type: 'object',
    properties: { city: { type: 'string', maxLength: 9 }, days: { type: 'integer' } },
    required: ['city'],
    additionalProperties: false,
  }
  const weather = tool({ parameters })
  t.match(weather.spec, { name: 'weather', parameters })
  const contentOf = async (args: object) => (await resultOf(weather, { ...args })).content
  t.equal(await contentOf({}), "arguments must have required property 'city'")
  t.equal(await contentOf({ city: 1 }), 'arguments/city must be string')
  t.equal(await contentOf({ city: 'x', days: '3' }), 'arguments/days must be integer')
  t.equal(await contentOf({ city: 'x', more: 1 }), 'arguments must NOT have additional properties')
  t.equal(requests.length, 0)
  t.match(await resultOf(weather, { city: 'x', days: 3 }), { ok: true })
  const other = tool({ parameters: { ...parameters, required: [] } })
  t.match(await resultOf(other, {}), { ok: true }, 'the same $id twice')
})

t.test('a schema cannot be made to cost much', async (t) => {
  const { requests, tool } = await callScene(t, echo)
  const doubling = Array.from({ length: 40 }, (_, n) => [
    `d${n}`,
    { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
  ])
  const evil = `${'a'.repeat(60)}!`
  const costly: [ApiCallConfig['parameters'], object][] = [
    [{ properties: { a: { pattern: '^(a+)+$' } } }, { a: evil }],
    [{ patternProperties: { '^(a|a)*$': { type: 'null' } } }, { [evil]: 1 }],
    [{ $defs: { ...Object.fromEntries(doubling), d40: {} }, $ref: '#/$defs/d0' }, {}],
  ]
  for (const [parameters, args] of costly)
    t.match(await resultOf(tool({ parameters }), { ...args }), {
      ok: false,
      content: 'the arguments could not be checked in time',
    })
  for (const parameters of [
    { $ref: 'http://127.0.0.1/schema.json' },
    { $ref: 'file:///etc/passwd' },
    { type: 'nothing' },
    { properties: { a: { pattern: '(' } } },
    { description: 'x'.repeat(70_000) },
  ])
    t.match(await resultOf(tool({ parameters }), { a: 'x' }), {
      ok: false,
      content: 'the parameters of this tool are not a usable JSON Schema',
    })
  t.equal(requests.length, 0)
})

t.test("the calling user's own credential goes into the header, and nowhere else", async (t) => {
  const mirror: Answer = ({ headers }, response) =>
    json(response, { headers, encoded: encodeURIComponent(secret) }, 200, { 'x-echo': 'yes' })
  const { requests, tool } = await callScene(t, mirror)
  const headers = { Authorization: 'Bearer {{credential:TOKEN}}', 'X-Plain': 'plain' }
  const result = await resultOf(tool({ headers }), {})
  t.match(requests[0]?.headers, { authorization: `Bearer ${secret}`, 'x-plain': 'plain' })
  t.match(result, { ok: true, content: /Bearer \[TOKEN\]/ })
  t.notMatch(result.content, /5e\/cr|5e%2F/)

  const missing = 'the credential OTHER is missing: the user has not stored it'
  const other = tool({ headers: { 'X-Key': '{{credential:OTHER}}' } })
  t.strictSame(await resultOf(other, {}), { ok: false, content: missing })
  for (const by of [
    { ...call, userId: 'user-2' },
    { ...call, userId: null },
    { ...call, onBehalfOf: 'user-2' },
    { ...call, organizationId: 'org-2' },
  ])
    t.match(await resultOf(tool({ headers }), {}, { call: by }), {
      ok: false,
      content: /the credential TOKEN is missing/,
    })
  t.equal(requests.length, 1)
  const delegated = { ...call, userId: 'user-9', onBehalfOf: 'user-1' }
  t.match(await resultOf(tool({ headers }), {}, { call: delegated }), { ok: true })
})

t.test("a credential's placeholder in the arguments stays as it is", async (t) => {
  const { requests, url, tool } = await callScene(t, echo)
  const place = '{{credential:TOKEN}}'
  await resultOf(tool({ url: `${url}/{a}`, method: 'POST', headers: { 'X-A': 'a' } }), {
    a: place,
    b: place,
  })
  t.notOk(JSON.stringify(requests).includes(secret.slice(0, 6)))
})

t.test('headers of the connection itself are not set', async (t) => {
  const { requests, tool } = await callScene(t, echo)
  for (const headers of [
    { Host: 'metadata.internal' },
    { 'Content-Length': '0' },
    { 'Transfer-Encoding': 'chunked' },
    { 'Proxy-Authorization': 'x' },
    { 'X-A': 'a\r\nX-B: b' },
    { 'X A': 'a' },
  ])
    t.match(await resultOf(tool({ headers: { ...headers } }), {}), {
      ok: false,
      content: /cannot be sent/,
    })
  t.equal(requests.length, 0)
})

t.test('redirects stay on the host', async (t) => {
  const other = await web(t, echo)
  const { requests, url, tool } = await callScene(t, (request, response) => {
    const to = new URL(request.url ?? '', 'http://x').searchParams.get('to')
    if (to === null) echo(request, response)
    else response.writeHead(Number(request.headers['x-status'] ?? 302), { location: to }).end()
  })
  const headers = { Authorization: '{{credential:TOKEN}}' }
  const at = (to: string, more = {}) =>
    resultOf(tool({ url: `${url}/?to={to}`, headers, ...more }), { to })
  t.match(JSON.parse((await at('/there')).content), { method: 'GET', url: '/there' })
  const posted = { method: 'POST', headers: { ...headers, 'X-Status': '307' } }
  t.match(await at('/there', posted), { ok: true, content: /"method":"POST","url":"\/there"/ })
  t.match(await at('/there', { method: 'POST' }), { ok: true, content: /"method":"GET"/ })
  const before = requests.length
  for (const to of [`${other.url}/`, 'http://169.254.169.254/', '//example.com/', 'http://[::1]/'])
    t.match(await at(to), { ok: false, content: /another host/ }, to)
  t.match(await at(url.replace('http://', 'http://u:p@')), { ok: false, content: /user name/ })
  t.match(await at(url.replace('http:', 'ftp:')), { ok: false })
  t.match(await at('http://:::'), { ok: false, content: 'it redirects to no address' })
  t.equal(requests.length, before + 7)
  t.equal(other.requests.length, 0)
})

t.test('a redirect that never ends does', async (t) => {
  const { requests, tool } = await callScene(t, (_, response) =>
    response.writeHead(302, { location: '/' }).end(),
  )
  t.match(await resultOf(tool(), {}), { ok: false, content: 'it redirects too often' })
  t.equal(requests.length, 4)
})

t.test('the answer is text of a bounded size', async (t) => {
  const kinds: Record<string, Answer> = {
    '/large': (_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' })
      const more = () => {
        if (!response.destroyed) response.write('x'.repeat(65_536), more)
      }
      more()
    },
    '/image': (_, response) =>
      response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.alloc(300)),
    '/latin': (_, response) =>
      response
        .writeHead(200, { 'content-type': 'text/plain; charset=iso-8859-1' })
        .end(Buffer.from('caf\xe9', 'latin1')),
    '/empty': (_, response) => response.writeHead(204).end(),
    '/long': (_, response) => json(response, { text: 'y'.repeat(50_000) }),
  }
  const { url, tool } = await callScene(t, (request, response) =>
    kinds[request.url ?? '']?.(request, response),
  )
  const got = async (path: string) => (await resultOf(tool({ url: `${url}${path}` }), {})).content
  const large = await got('/large')
  t.match(large, /\[cut: the answer is larger than 1048576 bytes\]$/)
  t.ok(large.length < 20_000)
  t.equal(await got('/image'), '[300 bytes of image/png, which is no text]')
  t.equal(await got('/latin'), 'café')
  t.equal(await got('/empty'), 'HTTP 204 without content')
  t.match(await got('/long'), /\[cut: the first 16000 of 50011 characters\]$/)
})

t.test('an error status is reported with its body', async (t) => {
  const { tool, url } = await callScene(t, (_, response) =>
    json(response, { why: 'no such city' }, 404),
  )
  t.strictSame(await resultOf(tool(), {}), {
    ok: false,
    content: 'HTTP 404: {"why":"no such city"}',
    reached: { host: new URL(url).host, httpStatus: 404 },
  })
})

t.test('silence, an unreachable host and a cancelled turn end the call', async (t) => {
  const silent = await callScene(t, () => undefined, { totalMs: 50 })
  t.match(await resultOf(silent.tool(), {}), { ok: false, content: 'no answer within 50 ms' })
  const stalled = await callScene(t, (_, response) => response.write('x'), { totalMs: 50 })
  t.match(await resultOf(stalled.tool(), {}), { ok: false, content: 'no answer within 50 ms' })
  await silent.close()
  t.match(await resultOf(silent.tool(), {}), { ok: false, content: 'it could not be reached' })
  const abort = new AbortController()
  const waiting = await callScene(t, () => abort.abort())
  t.match(await resultOf(waiting.tool(), {}, { signal: abort.signal }), { ok: false })
  t.match(await resultOf(waiting.tool({ url: 'https://127.0.0.1:1/' }), {}), {
    ok: false,
    content: 'the host has an address that is not public',
  })
  t.match(await resultOf(waiting.tool({ method: 'CONNECT' }), {}), { ok: false })
})

t.test('x402', async (t) => {
  const way = {
    scheme: 'exact',
    network: 'base-sepolia',
    maxAmountRequired: '10000',
    resource: 'https://api.example/weather',
    description: 'Weather report',
    payTo: '0x1',
    asset: '0x2',
    extra: { name: 'USDC', version: '2' },
  }
  const first = { x402Version: 1, accepts: [way], error: 'X-PAYMENT header is required' }
  const second = {
    x402Version: 2,
    accepts: [
      { scheme: 'exact', network: 'eip155:8453', amount: '20000', extra: { nonce: 'n-7' } },
    ],
    resource: { url: 'https://api.example/weather' },
  }
  const answers: Record<string, (request: WebRequest, response: Parameters<Answer>[1]) => void> = {
    '/body': (_, response) => json(response, first, 402),
    '/header': (_, response) =>
      json(response, {}, 402, {
        'payment-required': Buffer.from(JSON.stringify(second)).toString('base64'),
      }),
    '/echo': ({ headers }, response) =>
      json(response, { ...first, error: `pay, ${headers.authorization}` }, 402),
    '/other': (_, response) => json(response, { error: 'upgrade your plan' }, 402),
    '/broken': (_, response) => json(response, { accepts: [{ network: 7 }, null] }, 402),
  }
  const { url, tool } = await callScene(t, (request, response) =>
    answers[request.url ?? '']?.(request, response),
  )
  const headers = { Authorization: '{{credential:TOKEN}}' }
  const outputs = (path: string) => outputsOf(tool({ url: `${url}${path}`, headers }), {})
  t.strictSame(await outputs('/body'), [
    {
      payment: {
        message: 'X-PAYMENT header is required',
        nonce: 'id-1',
        network: 'base-sepolia',
        total_amount: '10000',
      },
    },
    {
      ok: false,
      content: 'payment is required: X-PAYMENT header is required (10000 on base-sepolia)',
      reached: { host: new URL(url).host, credentials: ['TOKEN'], httpStatus: 402 },
    },
  ])
  t.match(await outputs('/header'), [
    { payment: { message: 'Payment is required', nonce: 'n-7', network: 'eip155:8453' } },
    { ok: false },
  ])
  const echoed = await outputs('/echo')
  t.match(echoed, [{ payment: { message: 'pay, [TOKEN]' } }, { ok: false }])
  t.notOk(JSON.stringify(echoed).includes('5e/cr'))
  t.match(await outputs('/other'), [
    { ok: false, content: 'HTTP 402: {"error":"upgrade your plan"}' },
  ])
  t.match(await outputs('/broken'), [{ ok: false, content: /^HTTP 402/ }])
})

t.test('a request that is too long is refused before it is built', async (t) => {
  const { requests, tool, url } = await callScene(t, echo)
  const token = '{{credential:TOKEN}}'
  const refused = async (config: Partial<ApiCallConfig>, args: object = {}) =>
    (await resultOf(tool(config), { ...args })).content
  const long = { a: 'x'.repeat(40_000) }
  const tooLong = 'the address would be longer than 65536 characters'
  t.equal(await refused({ url: `${url}/{a}/{a}` }, long), tooLong)
  t.equal(await refused({}, { ...long, b: long.a }), tooLong)
  t.equal(
    await refused({ headers: { a: token.repeat(1_500), b: token.repeat(1_500) } }),
    'the headers are longer than 32768 characters',
  )
  const names = Array.from({ length: 21 }, (_, n) => `{{credential:T${n}}}`)
  t.equal(
    await refused({ headers: { a: names.join() } }),
    'the headers name more than 20 credentials',
  )
  t.equal(requests.length, 0)
})

t.test(
  'a credential does not come back in encodings, errors, headers or types of files',
  async (t) => {
    const headers = { 'x-key': '{{credential:TOKEN}}' }
    const hex = (text: string) => Buffer.from(text).toString('hex')
    const { tool, url } = await callScene(t, ({ url = '', headers }, response) => {
      const sent = String(headers['x-key'])
      const html = [...sent].map((character) => `&#x${hex(character)};`).join('')
      if (url === '/html') json(response, { html })
      else if (url === '/fails')
        json(response, { failed: Buffer.from(`u:${sent}`).toString('base64') }, 500)
      else if (url === '/type') {
        response.writeHead(200, { 'content-type': `image/${hex(sent)}` }).end(Buffer.alloc(8, 1))
      } else {
        const requirements = { accepts: [{ network: 'n', amount: hex(sent) }], error: html }
        const paid = Buffer.from(JSON.stringify(requirements)).toString('base64')
        response.writeHead(402, { 'payment-required': paid }).end(encodeURIComponent(sent))
      }
    })
    for (const path of ['html', 'fails', 'type', 'paid']) {
      const outputs = await outputsOf(tool({ url: `${url}/${path}`, headers }), {})
      const text = JSON.stringify(outputs)
      t.match(text, '[TOKEN]', path)
      for (const form of [hex(secret), Buffer.from(secret).toString('base64').slice(0, 8), '&#x74'])
        t.notMatch(text, form, path)
    }
  },
)
