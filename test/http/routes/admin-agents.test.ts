import t from 'tap'
import { requireTools } from '../../../src/http/checks/agent-tools.ts'
import { eventually } from '../../support/eventually.ts'
import { mcpServer } from '../../support/mcp-server.ts'
import { oddMcpServer, schema } from '../../support/odd-mcp-server.ts'
import { withOrganization } from '../../support/partner.ts'
import { startApp } from '../../support/server.ts'

const unknown = '0198c0de-0000-7000-8000-000000000001'

/** An organization, and its owner asking for agents. */
const staged = async (t: Parameters<typeof startApp>[0]) => {
  const all = await startApp(t)
  const organization = await withOrganization(all)
  const { at, owner, created } = organization
  const agents = `${at}/agents`
  return {
    ...all,
    ...organization,
    agents,
    orchestrator: `${agents}/${created.body.orchestrator_agent_id}`,
    create: (body: object) => owner('POST', agents, body),
    async created(body: object): Promise<string> {
      const { body: agent } = await owner('POST', agents, body)
      return agent.agent_id
    },
  }
}

const apiCall = {
  type: 'api_call',
  name: 'get_order',
  description: 'Reads an order',
  method: 'get',
  url: 'https://shop.example/orders/{id}?full={full}',
  headers: { Authorization: 'Bearer {{credential:SHOP}}' },
  parameters: {
    type: 'object',
    properties: { id: { type: 'string' }, full: { type: 'boolean' } },
    required: ['id'],
  },
}

t.test('an agent with all that it is configured by', async (t) => {
  const { agents, create, created, owner } = await staged(t)
  const helper = await created({ name: 'Helper' })
  const settings = {
    name: 'Librarian',
    description: 'Answers from documents',
    agent_type: 'LLM_AGENT',
    model: 'offline/extractive',
    instruction: 'Quote the documents.',
    is_active: false,
    mcp_servers: [{ name: 'calendar', url: 'https://mcp.example/', headers: { 'X-Team': 'a' } }],
    sub_agents: [helper],
    datastore_ids: [unknown],
    temperature: 0.5,
    max_tokens: 512,
    output_key: 'facts',
    max_iterations: 4,
    exit_condition: 'DONE',
    limits: { max_steps: 20, max_tokens: 50_000, max_credits: 0.125, max_seconds: 90 },
  }
  const sent = {
    ...settings,
    tools: ['recall', { type: 'search_knowledge' }, apiCall],
  }
  const reply = await create(sent)
  const { agent_id, created_at, mcp_servers, ...agent } = reply.body
  const status = { state: 'unknown', last_error: null, checked_at: null }
  t.strictSame(
    mcp_servers,
    settings.mcp_servers.map((server) => ({ ...server, status })),
  )
  t.equal(reply.status, 201)
  t.match(agent_id, /^[\w-]{36}$/)
  const { mcp_servers: _, ...others } = settings
  t.strictSame(agent, {
    ...others,
    tools: ['recall', 'search_knowledge', { ...apiCall, method: 'GET' }],
    has_tools: true,
    has_mcp: true,
    updated_at: created_at,
  })
  const { body: got } = await owner('GET', `${agents}/${agent_id}`)
  const { status: _status, ...server } = got.mcp_servers[0]
  t.strictSame({ ...got, mcp_servers: [{ ...server, status }] }, reply.body)

  const change = { tools: [], mcp_servers: [], is_active: true, temperature: null }
  t.match(await owner('PATCH', `${agents}/${agent_id}`, change), {
    status: 200,
    body: { ...settings, ...change, has_tools: false, has_mcp: false },
  })
  t.match(await owner('PATCH', `${agents}/${agent_id}`, {}), { status: 200, body: change })
  const again = { ...sent, name: 'Again', tools: agent.tools }
  t.match(await create(again), { status: 201, body: again }, 'what is shown can be sent')

  t.match(await owner('GET', `${agents}?page_size=2`), {
    status: 200,
    body: { agents: [{ name: 'Orchestrator' }, { name: 'Helper' }], total: 4, has_next: true },
  })
  t.match(await owner('DELETE', `${agents}/${agent_id}`), { status: 204 })
  t.match(await owner('GET', `${agents}/${agent_id}`), { status: 404, code: 'agent_not_found' })
})

t.test(
  'limits of runs: whole, changed, taken away, and refused where they are absurd',
  async (t) => {
    const { create, agents, owner } = await staged(t)
    const { body: agent } = await create({ name: 'Free' })
    t.equal(agent.limits, undefined)
    const at = `${agents}/${agent.agent_id}`
    const limits = { max_steps: 1, max_tokens: null, max_credits: 0.000001 }
    t.match(await owner('PATCH', at, { limits }), { status: 200 })
    t.strictSame((await owner('GET', at)).body.limits, { max_steps: 1, max_credits: 0.000001 })
    await owner('PATCH', at, { limits: { max_seconds: 1_800 } })
    t.strictSame(
      (await owner('GET', at)).body.limits,
      { max_seconds: 1_800 },
      'replaced as a whole',
    )
    const history = await owner(
      'GET',
      `${agents.replace('/agents', '')}/audit/events?type=AgentChanged`,
    )
    t.match(history.body.events, [
      { data: { limits: { steps: 1, charge: 1 } } },
      { data: { limits: { seconds: 1_800 } } },
    ])
    t.equal((await owner('PATCH', at, { limits: null })).body.limits, null)

    const absurd = [
      { max_steps: 0 },
      { max_steps: -1 },
      { max_steps: 1.5 },
      { max_steps: 10_001 },
      { max_steps: '5' },
      { max_steps: 1e308 },
      { max_tokens: 0 },
      { max_tokens: 0.1 },
      { max_tokens: 1_000_000_001 },
      { max_credits: 0 },
      { max_credits: -0.5 },
      { max_credits: 0.0000001 },
      { max_credits: 0.1234567 },
      { max_credits: 1_000_001 },
      { max_credits: true },
      { max_seconds: 0 },
      { max_seconds: 0.5 },
      { max_seconds: 1_801 },
      { max_rounds: 5 },
      [],
      5,
    ]
    for (const bounds of absurd) {
      const { status, code } = await owner('PATCH', at, { limits: bounds })
      t.strictSame({ status, code }, { status: 400, code: 'invalid_input' }, JSON.stringify(bounds))
    }
    t.equal((await owner('GET', at)).body.limits, null)
  },
)

t.test('settings of calls are stored, returned and accepted again', async (t) => {
  const { agents, create, owner } = await staged(t)
  const care = {
    effect: 'write',
    on_unknown: 'ask',
    requires_approval: true,
    approver: 'admin',
    approval_ttl: 3_600,
  }
  const settings = {
    name: 'Shop',
    tools: [
      { ...apiCall, method: 'POST', idempotency_header: 'Idempotency-Key', ...care },
      { type: 'generate_content', requires_approval: true },
      'remember',
    ],
    mcp_servers: [
      {
        name: 'calendar',
        url: 'https://mcp.example/',
        headers: {},
        ...care,
        tools: { list: { requires_approval: false }, add: { approver: 'user' } },
      },
    ],
  }
  const { status, body: agent } = await create(settings)
  t.equal(status, 201)
  t.strictSame(
    { tools: agent.tools, mcp_servers: agent.mcp_servers },
    {
      tools: settings.tools,
      mcp_servers: settings.mcp_servers.map((server) => ({
        ...server,
        status: { state: 'unknown', last_error: null, checked_at: null },
      })),
    },
  )
  const at = `${agents}/${agent.agent_id}`
  const { tools, mcp_servers } = agent
  const same = await owner('PATCH', at, { tools, mcp_servers })
  t.equal(same.body.updated_at, agent.updated_at, 'nothing has changed')
  const [call, ...others] = tools
  const { requires_approval: _, ...unasked } = call
  const changed = await owner('PATCH', at, { tools: [unasked, ...others] })
  t.strictSame(changed.body.tools, [unasked, ...others])
})

t.test('settings of calls outside their bounds are refused', async (t) => {
  const { create } = await staged(t)
  const wrong: [object, string][] = [
    [{ tools: [{ ...apiCall, effect: 'maybe' }] }, 'tools.0.effect'],
    [{ tools: [{ ...apiCall, approval_ttl: 0 }] }, 'tools.0.approval_ttl'],
    [{ tools: [{ ...apiCall, approval_ttl: 2_592_001 }] }, 'tools.0.approval_ttl'],
    [{ tools: [{ ...apiCall, approver: 'anybody' }] }, 'tools.0.approver'],
    [
      { tools: [{ ...apiCall, idempotency_header: 'authorization' }] },
      'tools.0.idempotency_header',
    ],
    [{ tools: [{ ...apiCall, idempotency_header: 'a b' }] }, 'tools.0.idempotency_header'],
    [{ tools: [{ ...apiCall, idempotency_header: 'Host' }] }, 'tools.0.idempotency_header'],
    [{ tools: [{ type: 'recall', requires_approval: true }] }, 'tools.0'],
    [{ tools: [{ type: 'remember', effect: 'read' }] }, 'tools.0'],
    [
      { mcp_servers: [{ name: 'a', url: 'https://a.example', tools: { b: { more: 1 } } }] },
      'mcp_servers.0.tools.b',
    ],
  ]
  for (const [settings, param] of wrong)
    t.match(
      await create({ name: 'A', ...settings }),
      { status: 400, body: { error: { param } } },
      JSON.stringify(settings),
    )
})

t.test('only the name must be given', async (t) => {
  const { create } = await staged(t)
  t.match(await create({ name: ' Plain ' }), {
    status: 201,
    body: {
      name: 'Plain',
      description: '',
      agent_type: 'LLM_AGENT',
      model: null,
      instruction: '',
      is_active: true,
      tools: [],
      sub_agents: [],
      temperature: null,
    },
  })
  for (const agent_type of ['SEQUENTIAL_AGENT', 'PARALLEL_AGENT', 'LOOP_AGENT'])
    t.match(await create({ name: agent_type, agent_type, model: 'openai/gpt-5' }), {
      status: 201,
      body: { agent_type, model: null, sub_agents: [] },
    })
  const { parameters: _, headers: __, description: ___, ...bare } = apiCall
  t.match(await create({ name: 'A', tools: [{ ...bare, url: 'https://shop.example' }] }), {
    status: 201,
    body: { tools: [{ headers: {}, description: '', parameters: { type: 'object' } }] },
  })
})

t.test('a model that is not configured is refused, and those that are named', async (t) => {
  const { create, created, agents, owner } = await staged(t)
  const refused = {
    status: 400,
    body: {
      error: {
        code: 'unknown_model',
        param: 'model',
        message:
          'There is no model no/such. There are offline/extractive; the default is offline/extractive',
      },
    },
  }
  t.match(await create({ name: 'A', model: 'no/such' }), refused)
  const agent = `${agents}/${await created({ name: 'A' })}`
  t.match(await owner('PATCH', agent, { model: 'no/such' }), refused)
  t.match(await owner('GET', agent), { body: { model: null } })
  const own = await owner('PATCH', agent, { model: 'offline/extractive' })
  t.match(own, { status: 200, body: { model: 'offline/extractive' } })
  t.match(await owner('PATCH', agent, { model: null }), { status: 200, body: { model: null } })
})

t.test('a missing or wrong field is named', async (t) => {
  const { create, created, agents, owner } = await staged(t)
  t.match(await create({}), {
    status: 400,
    body: { error: { code: 'missing_required_field', param: 'name' } },
  })
  const agent = `${agents}/${await created({ name: 'A' })}`
  const wrong: readonly (readonly [object, string])[] = [
    [{ name: '' }, 'name'],
    [{ agent_type: 'ROBOT' }, 'agent_type'],
    [{ model: '' }, 'model'],
    [{ is_active: 'yes' }, 'is_active'],
    [{ instruction: 'x'.repeat(64_001) }, 'instruction'],
    [{ temperature: 2.1 }, 'temperature'],
    [{ temperature: -0.1 }, 'temperature'],
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ max_tokens: 1.5 }, 'max_tokens'],
    [{ max_iterations: 0 }, 'max_iterations'],
    [{ output_key: 'two words' }, 'output_key'],
    [{ sub_agents: 'all' }, 'sub_agents'],
    [{ datastore_ids: ['mine'] }, 'datastore_ids.0'],
    [{ tools: ['fly'] }, 'tools.0.type'],
    [{ tools: [{ type: 'api_call' }] }, 'tools.0.name'],
    [{ tools: [{ ...apiCall, name: 'get order' }] }, 'tools.0.name'],
    [{ tools: [{ ...apiCall, method: 'FETCH' }] }, 'tools.0.method'],
    [{ tools: [{ ...apiCall, parameters: 'any' }] }, 'tools.0.parameters'],
    [{ mcp_servers: [{ name: 'calendar' }] }, 'mcp_servers.0.url'],
  ]
  for (const [body, param] of wrong) {
    const expected = { status: 400, body: { error: { type: 'invalid_request_error', param } } }
    t.match(await create({ name: 'B', ...body }), expected, param)
    t.match(await owner('PATCH', agent, body), expected, param)
  }
  const large = Array.from({ length: 30 }, (_, n) => ({
    ...apiCall,
    name: `tool_${n}`,
    headers: { 'X-Long': 'x'.repeat(4_000) },
  }))
  t.match(await create({ name: 'B', tools: large }), { status: 400, code: 'too_complex' })
})

t.test('tools that could not be called are refused', async (t) => {
  const { create } = await staged(t)
  const tool = (change: object) => ({ tools: [{ ...apiCall, ...change }] })
  const headers = (headers: object) => tool({ headers })
  const parameters = (parameters: object) => tool({ url: 'https://shop.example', parameters })
  const server = (change: object) => ({
    mcp_servers: [{ name: 'calendar', url: 'https://mcp.example', ...change }],
  })
  const wrong: readonly (readonly [object, string])[] = [
    [tool({ name: 'recall' }), 'tools.0.name'],
    [tool({ name: 'transfer_to_agent' }), 'tools.0.name'],
    [tool({ url: '/orders' }), 'tools.0.url'],
    [tool({ url: 'ftp://shop.example/' }), 'tools.0.url'],
    [tool({ url: 'https://{id}/orders' }), 'tools.0.url'],
    [tool({ url: 'https://user:secret@shop.example/' }), 'tools.0.url'],
    [tool({ url: 'https://shop.example/{other}' }), 'tools.0.url'],
    [headers({ 'X Team': 'a' }), 'tools.0.headers'],
    [headers({ Host: 'metadata' }), 'tools.0.headers'],
    [headers({ 'X-Team': 'a\r\nX-Admin: yes' }), 'tools.0.headers.X-Team'],
    [headers({ 'X-Team': '{{credential:shop}}' }), 'tools.0.headers.X-Team'],
    [parameters({ type: 'string' }), 'tools.0.parameters'],
    [parameters({ type: 'object', properties: { id: { type: 'text' } } }), 'tools.0.parameters'],
    [parameters({ properties: { id: { $ref: 'https://else.example/' } } }), 'tools.0.parameters'],
    [parameters({ properties: { id: { pattern: '(' } } }), 'tools.0.parameters'],
    [{ tools: ['recall', 'recall'] }, 'tools.1'],
    [{ tools: [apiCall, apiCall] }, 'tools.1'],
    [tool({ url: 'http://shop.example/' }), 'tools.0.url'],
    [tool({ url: 'https://10.0.0.1/orders/{id}?full={full}' }), 'tools.0.url'],
    [tool({ url: 'https://127.1/' }), 'tools.0.url'],
    [server({ url: 'https://[::1]:8443/mcp' }), 'mcp_servers.0.url'],
    [server({ url: 'https://169.254.169.254/' }), 'mcp_servers.0.url'],
    [server({ url: 'https://LOCALHOST/mcp' }), 'mcp_servers.0.url'],
    [server({ url: 'http://localhost:3000/mcp' }), 'mcp_servers.0.url'],
    [server({ url: 'mcp.example' }), 'mcp_servers.0.url'],
    [server({ headers: { Connection: 'close' } }), 'mcp_servers.0.headers'],
    [
      { mcp_servers: [server({}), server({})].flatMap((settings) => settings.mcp_servers) },
      'mcp_servers.1',
    ],
  ]
  for (const [body, param] of wrong)
    t.match(
      await create({ name: 'B', ...body }),
      { status: 400, body: { error: { code: 'invalid_tool', param } } },
      `${param}: ${JSON.stringify(body).slice(0, 200)}`,
    )
  const nested = (levels: number): object => (levels === 0 ? {} : { not: nested(levels - 1) })
  const many = Object.fromEntries([...Array(2_000)].map((_, n) => [`x${n}`, {}]))
  for (const [what, schema] of Object.entries({
    large: { title: 'x'.repeat(65_536) },
    'large in UTF-8': { title: '€'.repeat(22_000) },
    deep: nested(33),
    wide: { properties: many },
  }))
    t.match(
      await create({ name: 'B', ...parameters(schema) }),
      { status: 400, body: { error: { code: 'too_complex', param: 'tools.0.parameters' } } },
      what,
    )
  const costly = async () => ({ words: 'it takes too long to compile', overLimit: true })
  const faults = { schemaFault: costly, addressFault: () => undefined }
  await t.rejects(requireTools([{ ...apiCall, type: 'api_call', method: 'GET' }], faults), {
    code: 'too_complex',
    facts: { field: 'tools.0.parameters' },
  })
  const manyHeaders = Object.fromEntries([...Array(2_000)].map((_, n) => [`X-${n}`, 'a']))
  t.match(await create({ name: 'B', ...headers(manyHeaders) }), {
    status: 400,
    code: 'too_complex',
  })
  for (const [body, param] of [
    [{ modle: 'offline/extractive', temprature: 1 }, 'modle'],
    [tool({ metod: 'GET' }), 'tools.0.metod'],
    [{ tools: [{ type: 'search_knowledge', note: 'a' }] }, 'tools.0.note'],
    [server({ token: 'a' }), 'mcp_servers.0.token'],
  ] as const)
    t.match(await create({ name: 'B', ...body }), {
      status: 400,
      body: { error: { code: 'invalid_input', param } },
    })
  t.match(
    (await create({ name: 'B', modle: 'a', temprature: 1 })).body.error.message,
    /modle, temprature/,
  )
  const fine = [
    { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] },
    { $schema: 'https://json-schema.org/draft/2020-12/schema', $defs: { id: { type: 'string' } } },
    { properties: { id: { type: 'string', format: 'anything' } }, 'x-own': true },
  ]
  for (const [n, schema] of fine.entries())
    t.equal((await create({ name: `Fine ${n}`, ...parameters(schema) })).status, 201)
})

t.test(
  'sub-agents must exist, with unique names, without cycles and within the depth limit',
  async (t) => {
    const { create, created, agents, orchestrator, owner } = await staged(t)
    t.match(await create({ name: 'A', sub_agents: [unknown] }), {
      status: 400,
      body: {
        error: { code: 'unknown_sub_agent', param: 'sub_agents.0', type: 'invalid_request_error' },
      },
    })
    let top = await created({ name: 'Level 8' })
    const low = top
    for (let level = 7; level >= 1; level--)
      top = await created({
        name: `Level ${level}`,
        agent_type: 'SEQUENTIAL_AGENT',
        sub_agents: [top],
      })
    t.match(await create({ name: 'Level 0', sub_agents: [top] }), {
      status: 400,
      body: { error: { code: 'agent_depth', param: 'sub_agents' } },
    })
    t.match(await owner('PATCH', orchestrator, { sub_agents: [top] }), { status: 200 })
    t.match(await owner('PATCH', `${agents}/${low}`, { sub_agents: [top] }), {
      status: 400,
      body: {
        error: { code: 'agent_cycle', param: 'sub_agents', message: /Level 8 → Level 1 → / },
      },
    })
    const twin = await created({ name: 'level 1' })
    t.match(await owner('PATCH', orchestrator, { sub_agents: [top, twin] }), {
      status: 409,
      body: { error: { code: 'agent_name_taken', param: 'sub_agents.1', type: 'conflict_error' } },
    })
    const refused = await owner('DELETE', `${agents}/${top}`)
    t.match(refused, { status: 409, body: { error: { code: 'agent_in_use' } } })
    t.match(refused.body.agents, [{ name: 'Orchestrator' }])
    t.match(await owner('PATCH', orchestrator, { sub_agents: [] }), { status: 200 })
    t.match(await owner('DELETE', `${agents}/${top}`), { status: 204 })
  },
)

t.test('the orchestrator can be changed, and stays', async (t) => {
  const { orchestrator, owner } = await staged(t)
  t.match(await owner('PATCH', orchestrator, { instruction: 'Route.', name: 'Front desk' }), {
    status: 200,
    body: { instruction: 'Route.', name: 'Front desk' },
  })
  const stays = { status: 409, body: { error: { code: 'orchestrator_required' } } }
  t.match(await owner('PATCH', orchestrator, { is_active: false }), stays)
  t.match(await owner('PATCH', orchestrator, { agent_type: 'LOOP_AGENT' }), stays)
  t.match(await owner('DELETE', orchestrator), stays)
})

t.test('agents are managed with the scope and the organization of the key', async (t) => {
  const {
    agents,
    at,
    owner,
    owner_user_id,
    asPlatform: platform,
    clientOf: as,
    created,
  } = await staged(t)
  const agent = `${agents}/${await created({ name: 'A' })}`
  t.match(await platform('PATCH', agent, { name: 'B' }), { status: 200, body: { name: 'B' } })
  const nowhere = `/api/admin/organizations/${unknown}/agents`
  t.match(await platform('GET', nowhere), { status: 404, code: 'organization_not_found' })
  t.match(await platform('POST', nowhere, { name: 'A' }), { code: 'organization_not_found' })
  t.match(await platform('PATCH', `${nowhere}/${unknown}`, {}), { code: 'organization_not_found' })
  t.match(await platform('DELETE', `${nowhere}/${unknown}`), { code: 'organization_not_found' })
  t.match(await owner('GET', nowhere), { status: 403, code: 'organization_access_denied' })
  t.match(await owner('PATCH', `${agents}/${unknown}`, {}), { code: 'agent_not_found' })
  t.match(await owner('DELETE', `${agents}/nobody`), { status: 404, code: 'agent_not_found' })

  const reads = { name: 'Reads', scopes: ['admin:read'] }
  const key = await owner('POST', `${at}/api-keys`, { ...reads, user_id: owner_user_id })
  const reader = as(key.body.key)
  t.match(await reader('GET', agent), { status: 200 })
  t.match(await reader('PATCH', agent, {}), { status: 403, code: 'insufficient_scopes' })

  const other = await platform('POST', '/api/admin/organizations', {
    name: 'Other',
    owner: { email: 'other@example.com' },
  })
  const theirs = `/api/admin/organizations/${other.body.organization_id}/agents`
  const id = agent.slice(agent.lastIndexOf('/') + 1)
  t.match(await platform('GET', `${theirs}/${id}`), { status: 404, code: 'agent_not_found' })
  t.match(await platform('POST', theirs, { name: 'A', sub_agents: [id] }), {
    code: 'unknown_sub_agent',
  })
})

t.test('an idempotency key creates one agent', async (t) => {
  const { agents, owner, clientOf: as, at } = await staged(t)
  const key = await owner('POST', `${at}/api-keys`, { name: 'Own', type: 'user' })
  const once = as(key.body.key, { 'idempotency-key': 'one' })
  const [first, second] = [
    await once('POST', agents, { name: 'A' }),
    await once('POST', agents, { name: 'A' }),
  ]
  t.strictSame(first.body, second.body)
  t.match(await owner('GET', agents), { body: { total: 2 } })
})

t.test('hosts that the operator trusts may be private and without TLS', async (t) => {
  const all = await startApp(t, { API_CALL_ALLOW_HOSTS: '10.0.0.1,localhost:8080' })
  const { at, owner } = await withOrganization(all)
  const tool = (url: string) => ({ name: url.slice(0, 20), tools: [{ ...apiCall, url }] })
  for (const [url, status] of [
    ['https://10.0.0.1/{id}', 201],
    ['http://10.0.0.1:81/{id}', 201],
    ['http://localhost:8080/{id}', 201],
    ['http://localhost:8081/{id}', 400],
    ['https://10.0.0.2/{id}', 400],
  ] as const)
    t.match(await owner('POST', `${at}/agents`, tool(url)), { status }, url)
  const refused = await owner('POST', `${at}/agents`, tool('http://shop.example/{id}'))
  t.equal(
    refused.body.error.message,
    'tools.0.url: only https is allowed; API_CALL_ALLOW_HOSTS names hosts that are free of that',
  )
})

t.test('MCP servers are listed with the status of their last check', async (t) => {
  const up = await mcpServer(t)
  const down = await mcpServer(t, { authorization: 'Bearer right' })
  const all = await startApp(t, { API_CALL_ALLOW_HOSTS: '127.0.0.1' })
  const { at, owner } = await withOrganization(all)
  const { body } = await owner('POST', `${at}/agents`, {
    name: 'Caller',
    mcp_servers: [
      { name: 'up', url: up.url },
      { name: 'down', url: down.url, headers: { Authorization: 'Bearer wrong' } },
      { name: 'asked', url: up.url, headers: { 'X-Key': '{{credential:TOKEN}}' } },
    ],
  })
  const unknown = { state: 'unknown', last_error: null, checked_at: null }
  t.strictSame(body.mcp_servers[2].status, unknown)
  const agent = `${at}/agents/${body.agent_id}`
  const statuses = async () => {
    const { body: read } = await owner('GET', agent)
    return read.mcp_servers.map(({ status }: { status: object }) => status)
  }
  await eventually(async () => {
    const [first, second] = await statuses()
    return first.state === 'ok' && second.state === 'failing'
  })
  t.match(await statuses(), [
    { state: 'ok', last_error: null, checked_at: /^\d{4}-/ },
    { state: 'failing', last_error: 'HTTP 401', checked_at: /^\d{4}-/ },
    unknown,
  ])
  t.match((await owner('GET', `${at}/agents`)).body.agents.at(-1).mcp_servers[0].status, {
    state: 'ok',
  })
  const before = up.requests.length
  await statuses()
  t.equal(up.requests.length, before, 'reading asks no server')
  const { body: read } = await owner('GET', agent)
  const sent = await owner('PATCH', agent, { mcp_servers: read.mcp_servers })
  t.equal(sent.status, 200, 'what was read can be sent')
  t.strictSame(sent.body.mcp_servers, read.mcp_servers)
})

t.test('the status of a server names the tools that are left out', async (t) => {
  const tools = [{ name: 'good', inputSchema: schema }, { name: 'odd' }]
  const server = await oddMcpServer(t, { 'tools/list': { tools } })
  const all = await startApp(t, { API_CALL_ALLOW_HOSTS: '127.0.0.1' })
  const { at, owner } = await withOrganization(all)
  const mcp_servers = [{ name: 'shop', url: server.url }]
  const { body } = await owner('POST', `${at}/agents`, { name: 'Caller', mcp_servers })
  const agent = `${at}/agents/${body.agent_id}`
  const status = async () => (await owner('GET', agent)).body.mcp_servers[0].status
  const { checked_at, ...report } = await eventually(async () => {
    const now = await status()
    return now.state === 'ok' && now
  })
  t.strictSame(report, {
    state: 'ok',
    last_error: null,
    left_out: [{ tool: 'odd', reason: 'it has no input schema that can be used' }],
  })
  await owner('PATCH', agent, { name: 'Caller' })
  await eventually(async () => server.count('tools/list') === 2)
})

t.test('texts about credentials to connect are stored, returned and bounded', async (t) => {
  const { agents, create, owner } = await staged(t)
  const credentials = [
    {
      name: 'SHOP',
      label: 'Shop password',
      description: 'Reads your orders',
      help_url: 'https://help.example/keys',
    },
    { name: 'MAP' },
  ]
  const { body: agent } = await create({ name: 'Shopper', credentials })
  t.strictSame(agent.credentials, credentials)
  const at = `${agents}/${agent.agent_id}`
  t.strictSame((await owner('GET', at)).body.credentials, credentials)
  t.equal((await owner('PATCH', at, { credentials })).body.updated_at, agent.updated_at)
  t.strictSame((await owner('PATCH', at, { credentials: [] })).body.credentials, [])
  for (const [wrong, param] of [
    [[{ name: 'shop' }], 'credentials.0.name'],
    [[{ name: 'SHOP', label: '' }], 'credentials.0.label'],
    [[{ name: 'SHOP', label: 'x'.repeat(101) }], 'credentials.0.label'],
    [[{ name: 'SHOP', description: 'x'.repeat(501) }], 'credentials.0.description'],
    [[{ name: 'SHOP', help_url: 'http://help.example/' }], 'credentials.0.help_url'],
    [[{ name: 'SHOP', help_url: 'javascript:alert(1)' }], 'credentials.0.help_url'],
    [[{ name: 'SHOP', help: 'a' }], 'credentials.0.help'],
    [[{ name: 'SHOP' }, { name: 'SHOP' }], 'credentials'],
    [[...Array(41)].map((_, n) => ({ name: `C_${n}` })), 'credentials'],
  ] as const)
    t.match(await create({ name: 'B', credentials: wrong }), {
      status: 400,
      body: { error: { code: 'invalid_input', param } },
    })
})
