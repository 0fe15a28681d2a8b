import t from 'tap'
import {
  changesOf,
  type Draft,
  draftOf,
  emptyDraft,
  faultsOf,
  fieldOf,
  settingsIn,
  settingsOf,
} from '../../console/src/screens/agents/agent-draft.ts'
import type { AgentSettings } from '../../console/src/screens/agents/agent-types.ts'
import {
  callDraftOf,
  callFaultsOf,
  callOf,
  credentialDraftOf,
  credentialFaultsOf,
  credentialOf,
  emptyCall,
  emptyServer,
  serverDraftOf,
  serverFaultsOf,
  serverOf,
} from '../../console/src/screens/agents/tool-draft.ts'
import { mcpServer, tool } from '../../src/http/wire/agent-tools.ts'
import { newAgent } from '../../src/http/wire/agents.ts'

const named: Draft = { ...emptyDraft, name: 'Helper' }

const texts: readonly [keyof Draft, readonly string[]][] = [
  ['name', ['', ' ', 'x', 'x'.repeat(200), 'x'.repeat(201)]],
  ['description', ['', 'x'.repeat(4_000), 'x'.repeat(4_001)]],
  ['model', ['', 'a/b', 'x'.repeat(200), 'x'.repeat(201)]],
  ['instruction', ['', 'x'.repeat(64_000), 'x'.repeat(64_001)]],
  ['temperature', ['', '0', '2', '0.7', '2.1', '-1', 'warm']],
  ['max_tokens', ['', '0', '1', '1000000', '1000001', '1.5', 'many']],
  ['output_key', ['', 'a', '_a1', '1a', 'a b', 'x'.repeat(64), 'x'.repeat(65)]],
  ['max_iterations', ['', '0', '1', '100', '101']],
  ['exit_condition', ['', 'done', 'x'.repeat(200), 'x'.repeat(201)]],
  ['limit_steps', ['', '0', '1', '10000', '10001']],
  ['limit_tokens', ['', '0', '1', '1000000000', '1000000001']],
  ['limit_credits', ['', '0', '0.000001', '1000000', '1000001']],
  ['limit_seconds', ['', '0', '1', '1800', '1801']],
]

for (const [field, values] of texts)
  t.test(`checks ${field} as the server does`, async (t) => {
    for (const value of values) {
      const draft: Draft = { ...named, [field]: value }
      const { success } = newAgent.safeParse(settingsOf(draft))
      const words = faultsOf(draft)[field]
      t.equal(words === undefined, success, `${field}: ${value.slice(0, 12)} (${value.length})`)
    }
  })

t.test('checks the numbers of tools, servers, agents and DataStores', async (t) => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => `${index}`)
  t.strictSame(faultsOf({ ...named, sub_agents: many(100), datastore_ids: many(100) }), {})
  t.match(faultsOf({ ...named, sub_agents: many(101) }), { sub_agents: /100/ })
  t.match(faultsOf({ ...named, datastore_ids: many(101) }), { datastore_ids: /100/ })
})

const agent: AgentSettings = {
  name: 'Helper',
  description: '',
  agent_type: 'LLM_AGENT',
  model: null,
  instruction: 'Help.',
  is_active: true,
  tools: ['recall'],
  mcp_servers: [
    {
      name: 'shop',
      url: 'https://shop.example/mcp',
      headers: {},
      status: { state: 'unknown', last_error: null, checked_at: null },
    },
  ],
  sub_agents: [],
  datastore_ids: [],
  temperature: 0.5,
  max_tokens: null,
  output_key: null,
  max_iterations: null,
  exit_condition: null,
}

t.test('sends only the settings that differ', async (t) => {
  const before = draftOf(agent)
  t.strictSame(changesOf(before, before), {})
  t.strictSame(changesOf(before, { ...before, temperature: '', limit_steps: '5' }), {
    temperature: null,
    limits: { max_steps: 5 },
  })
})

t.test('sends no status of servers', async (t) => {
  const { mcp_servers } = settingsOf(draftOf(agent))
  t.strictSame(mcp_servers, [{ name: 'shop', url: 'https://shop.example/mcp', headers: {} }])
})

t.test('takes the settings of a former version, and nothing else', async (t) => {
  t.strictSame(settingsIn({ name: 'A', agent_id: 'x', created_at: 'y', credentials: [] }), {
    name: 'A',
    credentials: [],
  })
})

t.test('finds the field of a refusal', async (t) => {
  t.strictSame(['tools.0.url', 'limits.max_steps', 'limits', 'name'].map(fieldOf), [
    'tools',
    'limit_steps',
    'limits',
    'name',
  ])
})

t.test('writes an HTTP call that the server takes, and reads it again', async (t) => {
  const draft = {
    ...emptyCall,
    name: 'refund',
    method: 'POST' as const,
    url: 'https://shop.example/refunds/{order}',
    headers: [{ name: 'Authorization', value: 'Bearer {{credential:SHOP}}' }],
    requires_approval: true,
    approver: 'admin' as const,
    approval_ttl: '3600',
    effect: 'write' as const,
    on_unknown: 'ask' as const,
    idempotency_header: 'Idempotency-Key',
  }
  t.strictSame(callFaultsOf(draft, []), {})
  const call = callOf(draft)
  t.ok(tool.safeParse(call).success)
  t.match(callDraftOf(call), draft)
  t.match(callFaultsOf(draft, ['refund']), { name: /name/ })
})

t.test('writes an MCP server that the server takes, and reads it again', async (t) => {
  const draft = {
    ...emptyServer,
    name: 'shop',
    url: 'https://shop.example/mcp',
    tools: JSON.stringify({ pay: { requires_approval: true } }, null, 2),
  }
  t.strictSame(serverFaultsOf(draft, []), {})
  const server = serverOf(draft)
  t.ok(mcpServer.safeParse(server).success)
  const status = { state: 'unknown', last_error: null, checked_at: null } as const
  t.match(serverDraftOf({ ...server, status }), draft)
})

t.test('names what is wrong with a call', async (t) => {
  t.strictSame(
    Object.keys(
      callFaultsOf(
        { ...emptyCall, name: 'a b', url: 'shop', parameters: '[', approval_ttl: '0' },
        [],
      ),
    ).sort(),
    ['approval_ttl', 'name', 'parameters', 'url'],
  )
})

t.test('checks the texts of a credential as the server does', async (t) => {
  const token = { ...credentialDraftOf(undefined), name: 'SHOP_TOKEN' }
  const isTaken = (credentials: unknown) =>
    newAgent.safeParse({ name: 'Helper', credentials }).success
  for (const change of [
    {},
    { name: '' },
    { name: 'shop' },
    { name: 'A'.repeat(65) },
    { label: ' Token ', description: ' ', help_url: ' https://shop.example/token ' },
    { label: 'x'.repeat(101) },
    { description: 'x'.repeat(501) },
    { help_url: 'http://shop.example' },
    { help_url: 'https://user:password@shop.example' },
  ]) {
    const draft = { ...token, ...change }
    const hasFaults = Object.keys(credentialFaultsOf(draft, [])).length > 0
    t.equal(!hasFaults, isTaken([credentialOf(draft)]), JSON.stringify(change))
  }
  t.match(credentialFaultsOf(token, ['SHOP_TOKEN']), { name: /name/ })
  t.strictSame(credentialDraftOf(credentialOf({ ...token, label: 'Token' })).label, 'Token')
})

t.test('sends the texts of credentials where they differ', async (t) => {
  const before = draftOf({ ...agent, credentials: [{ name: 'A' }] })
  t.strictSame(changesOf(before, before), {})
  const credentials = [{ name: 'A', label: 'Key' }]
  t.strictSame(changesOf(before, { ...before, credentials }), { credentials })
})
