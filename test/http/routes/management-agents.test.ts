import t from 'tap'
import { withOrganization } from '../../support/partner.ts'
import { startApp } from '../../support/server.ts'

t.test('GET /management/agents: squads, for connect links', async (t) => {
  const all = await startApp(t)
  const { at, owner, organization_id, created } = await withOrganization(all)
  const orchestrator: string = created.body.orchestrator_agent_id
  const createAgent = async (body: object): Promise<string> =>
    (await owner('POST', `${at}/agents`, body)).body.agent_id
  const shop = await createAgent({
    name: 'Shop',
    tools: [
      {
        type: 'api_call',
        name: 'get_order',
        method: 'GET',
        url: 'https://shop.example',
        headers: { Authorization: 'Bearer {{credential:SHOP}}' },
      },
    ],
  })
  const sales = await createAgent({
    name: 'Sales',
    agent_type: 'SEQUENTIAL_AGENT',
    sub_agents: [shop],
  })
  await owner('PATCH', `${at}/agents/${orchestrator}`, { sub_agents: [sales] })

  const expected = {
    agents: [
      {
        agent_id: orchestrator,
        name: 'Orchestrator',
        agent_type: 'LLM_AGENT',
        root_agent_id: orchestrator,
        is_root: true,
        needs_credentials: ['SHOP'],
      },
      {
        agent_id: shop,
        name: 'Shop',
        agent_type: 'LLM_AGENT',
        root_agent_id: sales,
        is_root: false,
        needs_credentials: ['SHOP'],
      },
      {
        agent_id: sales,
        name: 'Sales',
        agent_type: 'SEQUENTIAL_AGENT',
        root_agent_id: sales,
        is_root: true,
        needs_credentials: ['SHOP'],
      },
    ],
    total: 3,
    organization_id,
  }
  for (const path of ['/management/agents', '/api/external/management/agents']) {
    const { status, body } = await owner('GET', path)
    t.equal(status, 200)
    t.strictSame(body, expected, path)
  }
})

t.test('PUT /api/external/management/agents/{agent_id}/instruction', async (t) => {
  const all = await startApp(t)
  const { clientOf: as, asPlatform: platform } = all
  const { at, owner, organization_id } = await withOrganization(all)
  const agent = (await owner('POST', `${at}/agents`, { name: 'A', instruction: 'Old.' })).body
  const put = (ask: typeof owner, body: object, id = agent.agent_id) =>
    ask('PUT', `/api/external/management/agents/${id}/instruction`, body)

  const changed = await put(owner, { instruction: 'New.' })
  t.equal(changed.status, 200)
  t.strictSame(Object.keys(changed.body), ['agent_id', 'updated_at'])
  t.equal(changed.body.agent_id, agent.agent_id)
  t.match((await owner('GET', `${at}/agents/${agent.agent_id}`)).body, {
    instruction: 'New.',
    updated_at: changed.body.updated_at,
  })
  t.strictSame(await put(owner, { instruction: 'New.' }), changed, 'nothing changes twice')

  const unknown = '0198c0de-0000-7000-8000-000000000001'
  for (const id of [unknown, 'nobody'])
    t.match(await put(owner, { instruction: '' }, id), {
      status: 404,
      code: 'agent_not_found',
      body: { detail: 'Agent not found', error: undefined },
    })
  t.match(await put(owner, {}), {
    status: 400,
    code: 'invalid_input',
    body: { detail: [{ loc: ['body', 'instruction'], type: 'missing' }] },
  })

  const scopes = ['agents:manage']
  const shared = await owner('POST', `${at}/api-keys`, { name: 'Shared', scopes })
  t.match(await put(as(shared.body.key), { instruction: 'Mine.' }), {
    status: 403,
    code: 'user_key_required',
    body: { detail: /user key/ },
  })
  const lists = await owner('POST', `${at}/api-keys`, {
    name: 'Lists',
    type: 'user',
    scopes: ['agents:list'],
  })
  t.match(await put(as(lists.body.key), { instruction: 'Mine.' }), {
    status: 403,
    body: { error: 'insufficient_scopes', missing_scopes: scopes },
  })

  const { user_id } = (await owner('POST', `${at}/members`, { email: 'ann@example.com' })).body
  const accept = [{ organization_id }]
  const login = { email: 'ann@example.com', provider: 'google', subject: 's-1', accept }
  await platform('POST', '/api/admin/identity/logins', login)
  const anns = await platform('POST', `${at}/api-keys`, { name: 'Ann', type: 'user', user_id })
  const asAnn = as(anns.body.key)
  t.match(await put(asAnn, { instruction: 'Mine.' }), { status: 403, code: 'role_required' })
  await owner('PATCH', `${at}/members/${user_id}`, { role: 'ADMIN' })
  t.match(await put(asAnn, { instruction: 'Ours.' }), { status: 200 })

  const other = await platform('POST', '/api/admin/organizations', {
    name: 'Other',
    owner: { email: 'other@example.com' },
  })
  const theirs = other.body.orchestrator_agent_id
  t.match(await put(owner, { instruction: 'Mine.' }, theirs), { code: 'agent_not_found' })
})
