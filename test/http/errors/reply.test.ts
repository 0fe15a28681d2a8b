import { readFileSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import t from 'tap'
import { z } from 'zod'
import { refusal } from '../../../src/domain/refusal.ts'
import { type RefusalCode, refusalWords } from '../../../src/domain/refusal-words.ts'
import { bodyOf, type Group, shapeIn, shapesIn } from '../../../src/http/errors/bodies.ts'
import { refusalTable, type Shape } from '../../../src/http/errors/refusal-table.ts'
import { superAdminKey } from '../../support/platform.ts'
import { startApp } from '../../support/server.ts'

const codes = Object.keys(refusalWords) as RefusalCode[]
const groups: readonly Group[] = ['chat', 'agents', 'admin', 'rag', 'detail']

const error = (code: RefusalCode) =>
  z.looseObject({
    message: z.string().min(1),
    type: z.literal(refusalTable[code].type),
    code: z.literal(code),
    param: z.string().nullish(),
  })
const issue = z.strictObject({
  loc: z.array(z.union([z.string(), z.int()])),
  msg: z.string(),
  type: z.string(),
})

/** The shapes of docs/contract/errors.md#shapes, written down once more. */
const documented: Record<Shape, (code: RefusalCode) => z.ZodType> = {
  detail: () => z.looseObject({ detail: z.string().min(1) }),
  error: (code) => z.looseObject({ error: error(code), detail: z.undefined().optional() }),
  flat: (code) => z.looseObject({ error: z.literal(code), message: z.string().min(1) }),
  list: () => z.looseObject({ detail: z.array(issue) }),
  fields: () => z.looseObject({ detail: z.record(z.string(), z.array(z.string())) }),
  rag: (code) => z.looseObject({ detail: z.strictObject({ error: error(code) }) }),
}

const shapeOf: Record<Group, Shape> = {
  chat: 'error',
  agents: 'error',
  admin: 'error',
  rag: 'rag',
  detail: 'detail',
  management: 'detail',
}

t.test('every refusal has its documented shape in every group', async (t) => {
  const extra = fc.record(
    {
      message: fc.string({ minLength: 1 }),
      field: fc.string(),
      issues: fc.constant([
        { path: ['body', 'files', 0], message: 'Field required', kind: 'missing' },
      ]),
      fields: fc.dictionary(fc.string(), fc.array(fc.string())),
      creditBalance: fc.double({ noNaN: true }),
      agents: fc.array(fc.record({ agentId: fc.uuid(), name: fc.string() })),
    },
    { requiredKeys: ['issues', 'fields'] },
  )
  fc.assert(
    fc.property(
      fc.constantFrom(...codes),
      fc.constantFrom(...groups),
      extra,
      (code, group, more) => {
        const failure = refusal(code, more)
        const body = JSON.parse(JSON.stringify(bodyOf(failure, group)))
        const own: Shape | 'route' = refusalTable[code].shape
        const nested = group === 'chat' && code === 'rate_limit_exceeded'
        const usual = nested ? 'error' : own === 'route' ? shapeOf[group] : own
        if (usual !== shapeIn(group, code)) return false
        // A body's faults are listed where the SDKs of OpenAI do not read.
        const listed = code === 'invalid_input' && shapeOf[group] !== 'error'
        const shape = listed ? 'list' : usual
        if (!shapesIn(group, code).includes(shape)) return false
        documented[shape](code).parse(body)
        // What the groups of SDKs never go without.
        if (shapeOf[group] === 'error' && shape !== 'flat') error(code).parse(body.error)
        if (
          more.creditBalance !== undefined &&
          ['detail', 'error', 'flat'].includes(shape) &&
          !nested
        )
          return 'credit_balance' in body
        return true
      },
    ),
    { numRuns: 2_000 },
  )
  t.pass()
})

t.test('statuses are those of the contract', async (t) => {
  const contract = [400, 401, 402, 403, 404, 405, 406, 408, 409, 413, 415, 416, 422, 426, 429, 431]
  const server = [500, 501, 502, 503, 504]
  for (const code of codes) {
    const { status } = refusalTable[code]
    const message = refusalWords[code]
    t.ok([...contract, ...server].includes(status), `${code}: ${status}`)
    t.match(code, /^[a-z0-9]+(_[a-z0-9]+)*$/)
    t.match(message, /^[A-Z].*[^.]$/, `${code} begins as a sentence and has no full stop`)
  }
})

t.test('docs/contract/errors.md has every refusal, and no other', async (t) => {
  const path = new URL('../../../../docs/contract/errors.md', import.meta.url)
  const shapes: Record<Shape | 'route', string> = {
    detail: '`{detail}`',
    error: '`{error:{…}}`',
    flat: '`{error, message, …}`',
    list: '`{detail:[…]}`',
    fields: '`{detail:{field:[…]}}`',
    rag: '`{detail:{error:{…}}}`',
    route: 'of the route',
  }
  const rows = codes.toSorted().map((code) => {
    const { status, type, shape } = refusalTable[code]
    const message = refusalWords[code]
    return `| \`${code}\` | ${status} | ${type} | ${shapes[shape]} | ${message} |`
  })
  const head = '| code | status | type | shape | words |\n|---|---|---|---|---|\n'
  const [before = '', table = ''] = readFileSync(path, 'utf8').split(head)
  if (process.env.UPDATE_DOCS) writeFileSync(path, `${before}${head}${rows.join('\n')}\n`)
  else t.strictSame(table.trimEnd().split('\n'), rows, 'UPDATE_DOCS=1 writes the table anew')
})

t.test('refusals have their documented status, headers and body', async (t) => {
  const { url, platform, as } = await startApp(t)
  const organization = await platform.organization()
  const key = await organization.key({ scopes: ['orchestrator:invoke'] })
  const unasked = await as('').sessions()
  t.match(unasked, {
    status: 401,
    code: 'missing_api_key',
    body: { detail: /X-API-Key/ },
  })
  t.equal(unasked.headers.get('www-authenticate'), 'ApiKey')
  const unknown = await as('svc_live_unknown').sessions()
  t.match(unknown, {
    status: 401,
    code: 'invalid_api_key',
    body: { detail: /invalid or expired/i },
  })
  t.equal(unknown.headers.get('www-authenticate'), 'ApiKey')
  t.match((await key.sessions()).body, {
    error: 'insufficient_scopes',
    message: String,
    required_scopes: ['sessions:read'],
    missing_scopes: ['sessions:read'],
    available_scopes: ['orchestrator:invoke'],
  })
  const sdk = await as('').chat({})
  const error = { code: 'missing_api_key', message: String, param: null }
  t.match(sdk.body, { detail: String, error })

  await platform.ask('POST', `/users/${organization.ownerId}/credits`, {
    amount: -101.5,
    reason: 'spent',
  })
  const poor = await key.chat({ messages: [{ role: 'user', content: 'Hello' }] })
  t.match(poor, {
    status: 402,
    body: {
      error: { code: 'insufficient_credits', type: 'insufficient_credits', message: String },
      credit_balance: -1.5,
      effective_balance: -1.5,
      can_use_api: false,
    },
  })
  t.equal(poor.headers.get('x-should-retry'), 'false')
  await platform.ask('PUT', `/users/${organization.ownerId}/subscription`, { plan: null })
  t.match((await key.chat({ messages: [{ role: 'user', content: 'Hello' }] })).body, {
    error: { code: 'no_subscription', type: 'subscription_required' },
    has_subscription: false,
    required_plans: ['basic_monthly', 'pro_monthly'],
  })

  const askWithId = (id: string) =>
    fetch(new URL('/api/external/sessions', url), { headers: { 'x-request-id': id } })
  for (const id of ['a', 'trace.1:2_3-4', 'x'.repeat(128)])
    t.equal((await askWithId(id)).headers.get('x-request-id'), id)
  for (const id of ['', 'a b', '<script>', 'x'.repeat(129), 'ü', '{"a":1}'])
    t.match((await askWithId(encodeURI(id))).headers.get('x-request-id'), /^[0-9a-f]{8}-/, id)
})

t.test('names in a query are data', async (t) => {
  const server = await startApp(t)
  const { organizationId } = await server.platform.organization()
  const admin = server.as(superAdminKey)
  for (const name of ['constructor', '__proto__', 'toString'])
    t.match(
      await admin.ask('GET', `/api/admin/organizations/${organizationId}/audit/events?${name}=1`),
      { status: 400 },
      name,
    )
})
