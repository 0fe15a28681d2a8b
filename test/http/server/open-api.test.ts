import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import type { Schema } from '../../support/json-arbitrary.ts'
import { type Contract, contractOf, type Operation, operationsOf } from '../../support/open-api.ts'
import { raw } from '../../support/raw.ts'
import { startApp } from '../../support/server.ts'

type Route = ReturnType<typeof operationsOf>[number]

const chat = '/api/external/v1/chat/completions'

const ajv = () => new Ajv2020({ strict: false, validateFormats: false })

/** Every schema inside, however deep. Examples are none. */
function* schemasIn(value: unknown): Generator<Schema> {
  if (typeof value !== 'object' || value === null) return
  if ('type' in value && typeof value.type === 'string') yield value as Schema
  for (const [name, inner] of Object.entries(value)) if (name !== 'example') yield* schemasIn(inner)
}

t.test('the contract is sound', async (t) => {
  const { url } = await startApp(t)
  const reply = await raw(url)('/api/openapi.json')
  t.match(reply, { status: 200, headers: { 'content-type': /^application\/json/ } })
  const contract: Contract = reply.body
  t.match(contract, {
    openapi: /^3\.1\./,
    info: { title: 'Reprise', version: /^\d+\.\d+\.\d+/ },
    security: [{ apiKey: [] }, { bearer: [] }],
    components: {
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
    },
  })
  const operations = operationsOf(contract)
  t.ok(operations.length > 20)
  for (const { path, method, operation } of operations) {
    const name = `${method} ${path}`
    t.match(operation, { summary: /^[A-Z].*[^.]$/, tags: [String] }, name)
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter)
    const described = operation.parameters?.filter((parameter) => parameter.in === 'path') ?? []
    t.strictSame(
      described.map((parameter) => parameter.name).toSorted(),
      named.toSorted(),
      `${name}: path`,
    )
    const statuses = Object.keys(operation.responses)
    t.ok(
      statuses.some((status) => /^(101|20\d)$/.test(status)),
      `${name}: a success`,
    )
    const keyed = operation.security === undefined
    if (keyed)
      for (const status of ['400', '401', '403', '429', '500', '503'])
        t.ok(statuses.includes(status), `${name}: ${status}`)
    if (keyed && operation.requestBody)
      for (const status of ['413', '415']) t.ok(statuses.includes(status), `${name}: ${status}`)
  }
  const refs = [...reply.text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref = '']) => ref)
  for (const ref of refs) {
    const target = ref
      .slice(2)
      .split('/')
      .reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], contract)
    t.ok(target, ref)
  }
  const check = ajv()
  const schemas = [...schemasIn(contract.paths)]
  t.ok(schemas.length > 100)
  t.strictSame(
    schemas.filter((schema) => !check.validateSchema(schema)),
    [],
  )
})

const namedIn = ({ responses }: Operation): string[] =>
  Object.values(responses).flatMap(({ description }) => description.split(', '))

/** What a route refuses by what it is, whatever else it refuses. */
const implied: readonly [what: string, codes: string[], fits: (route: Route) => boolean][] = [
  [
    'on_behalf_of',
    ['user_not_found', 'delegation_not_allowed'],
    ({ operation }) => operation.parameters?.some(({ name }) => name === 'on_behalf_of') ?? false,
  ],
  [
    'an idempotency key',
    ['idempotency_key_reused', 'invalid_input'],
    ({ method, operation }) => method === 'post' && !operation.security,
  ],
  [
    'managers only',
    ['role_required', 'organization_access_denied'],
    ({ path }) => /^\/api\/admin\/organizations\/./.test(path),
  ],
  [
    'a choice in the query',
    ['invalid_filter'],
    ({ path, operation }) =>
      path.endsWith('/usage') ||
      (operation.parameters?.some(
        (parameter) => parameter.in === 'query' && parameter.schema.enum,
      ) ??
        false),
  ],
]

t.test('operations name their refusals, and 204 and 304 have no content', async (t) => {
  const { url } = await startApp(t)
  for (const route of operationsOf(await contractOf(url))) {
    const { path, method, operation } = route
    const codes = namedIn(operation)
    for (const [what, refused, fits] of implied)
      if (fits(route))
        for (const code of refused)
          t.ok(codes.includes(code), `${method} ${path}: ${what}: ${code}`)
    t.notOk(operation.responses['204']?.content, `${method} ${path}: 204`)
    t.notOk(operation.responses['304']?.content, `${method} ${path}: 304`)
  }
})

t.test('whole numbers are integers, and queries say their defaults', async (t) => {
  const { url } = await startApp(t)
  const contract = await contractOf(url)
  const integers =
    /^(page|page_size|limit|offset|total|index|message_count|file_size|.*_tokens|request_count|rate_limit_.*|position)$/
  for (const schema of schemasIn(contract.paths))
    for (const [name, property] of Object.entries(
      (schema.properties ?? {}) as Record<string, Schema>,
    ))
      if (integers.test(name) && property.type && property.type !== 'object')
        t.match([property.type].flat(), ['integer'], name)
  const { parameters = [] } = contract.paths['/api/external/sessions']?.get ?? {}
  t.match(Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])), {
    page: { type: 'integer', minimum: 1, default: 1 },
    page_size: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    include_hidden: { type: 'boolean', default: true },
  })
  t.notMatch(JSON.stringify(contract), '9007199254740991')
})

t.test('streams are streams', async (t) => {
  const { url } = await startApp(t)
  const { paths } = await contractOf(url)
  const types = (path: string, method: string) =>
    Object.keys(paths[path]?.[method]?.responses['200']?.content ?? {})
  t.strictSame(types(chat, 'post'), ['application/json', 'text/event-stream'])
  t.strictSame(types('/api/external/agents/{agent_id}/completions', 'post'), [
    'application/json',
    'text/event-stream',
  ])
  t.strictSame(types('/api/external/sessions/{session_id}/stream', 'get'), ['text/event-stream'])
})

t.test('answers are as the contract says', async (t) => {
  const { url, platform, as } = await startApp(t)
  const { paths } = await contractOf(url)
  const organization = await platform.organization()
  const key = await organization.key({
    scopes: ['orchestrator:invoke', 'sessions:read', 'sessions:messages'],
  })
  const slow = await organization.key({ rate_limit_minute: 1 })
  await slow.sessions()
  const messages = [{ role: 'user', content: 'Hello' }]
  const check = ajv()
  const fits = (
    path: string,
    method: string,
    { status, body }: { status: number; body: unknown },
  ) => {
    const { content } = paths[path]?.[method]?.responses[status] ?? {}
    const schema = content?.['application/json']?.schema
    t.ok(schema, `${method} ${path} ${status} is documented`)
    t.ok(
      check.validate(schema ?? false, body),
      `${method} ${path} ${status}: ${check.errorsText()} ${JSON.stringify(body)}`,
    )
  }
  const sessions = '/api/external/sessions'
  const session = `${sessions}/{session_id}`
  const answer = await key.chat({ messages, session_id: 'a' })
  t.equal(answer.status, 200)
  fits(chat, 'post', answer)
  for (const refused of [
    await key.chat({}),
    await key.chat({ messages: 'a' }),
    await key.chat({ messages, on_behalf_of: 'a' }),
    await key.chat({ messages, target_agent_id: '0198c0de-0000-7000-8000-000000000001' }),
    await slow.chat({ messages }),
    await as('none').chat({ messages }),
    await as('').chat({ messages }),
  ])
    fits(chat, 'post', refused)
  for (const read of [
    await key.sessions(),
    await key.sessions('?page=0'),
    await slow.sessions(),
    await as('').sessions(),
    await key.sessions('?on_behalf_of=a'),
  ])
    fits(sessions, 'get', read)
  for (const read of [await key.messages('a'), await key.messages('b'), await key.messages('%20')])
    fits(`${session}/messages`, 'get', read)
  for (const read of [await key.status('a'), await key.status('b')])
    fits(`${session}/status`, 'get', read)
  const ask = raw(url)
  fits('/api/health', 'get', await ask('/api/health'))
  fits('/api/health/ready', 'get', await ask('/api/health/ready'))
})

t.test('/docs needs nothing from elsewhere', async (t) => {
  const { url } = await startApp(t)
  const ask = raw(url)
  const page = await ask('/docs/')
  t.match(page, { status: 200, headers: { 'content-type': /^text\/html/ } })
  const policy = String(page.headers['content-security-policy'])
  t.match(policy, "default-src 'none'")
  t.notMatch(policy, /https?:|unsafe|\*|upgrade-insecure-requests/)
  const assets = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, at = '']) => at)
  t.ok(assets.length >= 4)
  t.notMatch(page.text, /<script(?![^>]* src=)[^>]*>|<style|style="|onload=/)
  for (const asset of assets) {
    const { pathname, origin } = new URL(asset, `${url}/docs/`)
    t.equal(origin, url, asset)
    const { status, headers, text } = await ask(pathname)
    t.equal(status, 200, asset)
    t.equal(headers['x-content-type-options'], 'nosniff')
    if (asset.endsWith('.css')) t.notMatch(text, /url\((?!["']?data:)/, asset)
    if (asset.endsWith('initializer.js')) t.notMatch(text.replace(/\/\/ .*/g, ''), /https?:\/\//)
  }
  t.match(await ask('/docs/json'), { status: 200, body: { openapi: String } })
})
