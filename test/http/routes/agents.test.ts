import t from 'tap'
import { withOrganization } from '../../support/partner.ts'
import { providerDouble } from '../../support/provider-double.ts'
import { startApp } from '../../support/server.ts'

t.test('GET /api/external/agents', async (t) => {
  const provider = await providerDouble()
  t.teardown(provider.close)
  const all = await startApp(t, { LLM_BASE_URL: provider.url, LLM_MODEL: 'openai/gpt-5-mini' })
  const { at, owner, organization_id, created } = await withOrganization(all)
  const create = (body: object) => owner('POST', `${at}/agents`, body)
  await create({ name: 'Researcher', description: 'Looks things up', tools: ['recall'] })
  await create({
    name: 'Calendar',
    is_active: false,
    model: 'openai/gpt-5',
    mcp_servers: [{ name: 'calendar', url: 'https://mcp.example' }],
  })
  await create({ name: 'Pipeline', agent_type: 'SEQUENTIAL_AGENT' })
  await create({ name: 'Old pipeline', agent_type: 'SEQUENTIAL_AGENT', is_active: false })

  const key = await owner('POST', `${at}/api-keys`, { name: 'Lists', scopes: ['agents:list'] })
  const list = (query = '') => all.clientOf(key.body.key)('GET', `/api/external/agents${query}`)
  const { body } = await list()
  t.equal(body.total, 5)
  t.equal(body.organization_id, organization_id)
  t.equal(body.agents[0].agent_id, created.body.orchestrator_agent_id)
  const { agent_id, ...researcher } = body.agents[1]
  t.match(agent_id, /^[\w-]{36}$/)
  t.strictSame(researcher, {
    name: 'Researcher',
    agent_type: 'LLM_AGENT',
    description: 'Looks things up',
    is_active: true,
    model: 'openai/gpt-5-mini',
    has_tools: true,
    has_mcp: false,
  })
  t.match(body.agents[2], { model: 'openai/gpt-5', has_tools: false, has_mcp: true })
  t.match(body.agents[3], { agent_type: 'SEQUENTIAL_AGENT', model: null })

  for (const [query, names] of [
    ['', ['Orchestrator', 'Researcher', 'Calendar', 'Pipeline', 'Old pipeline']],
    ['?agent_type=LLM_AGENT', ['Orchestrator', 'Researcher', 'Calendar']],
    ['?is_active=false', ['Calendar', 'Old pipeline']],
    ['?is_active=true&agent_type=SEQUENTIAL_AGENT', ['Pipeline']],
    ['?agent_type=LOOP_AGENT', []],
  ] as const) {
    const { status, body } = await list(query)
    t.equal(status, 200)
    t.equal(body.total, names.length)
    t.strictSame(
      body.agents.map(({ name }: { name: string }) => name),
      names,
      query,
    )
  }

  t.match(await list('?agent_type=ROBOT'), {
    status: 400,
    code: 'invalid_filter',
    body: {
      detail: /LLM_AGENT, SEQUENTIAL_AGENT, PARALLEL_AGENT, LOOP_AGENT/,
    },
  })
  t.match(await list('?is_active=maybe'), {
    status: 400,
    body: { detail: { is_active: [String] } },
  })
})

t.test('listing agents requires a key with the scope agents:list', async (t) => {
  const all = await startApp(t)
  const { at, owner } = await withOrganization(all)
  const key = await owner('POST', `${at}/api-keys`, { name: 'Chats', scopes: ['sessions:read'] })
  for (const path of ['/api/external/agents', '/management/agents'])
    t.match(await all.clientOf(key.body.key)('GET', path), {
      status: 403,
      body: { error: 'insufficient_scopes', missing_scopes: ['agents:list'] },
    })
  t.match(await all.clientOf('')('GET', '/api/external/agents'), { status: 401 })
})
