import t from 'tap'
import { api, scene } from '../../contract/scene.ts'
import { user } from '../../support/client.ts'
import { encodedFile } from '../../support/library.ts'
import { connect } from '../../support/socket.ts'

const messages = user('Hi')

/** A body as it is on the wire, with names for what differs from run to run. */
const wireText = (body: unknown, names: Readonly<Record<string, string>>): string =>
  Object.entries(names)
    .reduce((text, [id, name]) => text.replaceAll(id, name), JSON.stringify(body))
    .replace(/"reset_at":\d+/, '"reset_at":0')
    .replace(/"retry_after":\d+/, '"retry_after":1')

t.test('the bodies of refusals that say more than their words, byte for byte', async (t) => {
  const { server, organization, key, ask, rag, only, provisioned } = await scene(t)
  const { organizationId } = organization
  const admin = `/api/admin/organizations/${organizationId}`
  const manager = server.as(
    (
      await server.platform.ask('POST', admin.slice('/api/admin'.length).concat('/api-keys'), {
        name: 'Admin',
        type: 'user',
      })
    ).key,
  )

  t.test('API keys', async (t) => {
    const few = await only('sessions:read', 'content:read')
    t.equal(
      wireText((await few.chat({ messages })).body, {}),
      '{"error":"insufficient_scopes","message":"The API key lacks: orchestrator:invoke","required_scopes":["orchestrator:invoke"],"missing_scopes":["orchestrator:invoke"],"available_scopes":["sessions:read","content:read"]}',
    )
    const user_id = await organization.member()
    const own = await organization.key({ type: 'user', user_id })
    const more = { name: 'More', scopes: ['users:provision', 'sessions:read', 'rag:delete'] }
    t.equal(
      wireText((await own.ask('POST', '/api/me/api-keys', more)).body, {}),
      '{"error":{"message":"The caller may not give a key this scope","type":"permission_error","code":"scope_not_allowed"},"scopes":["users:provision","rag:delete"]}',
    )
    const past = { name: 'Late', expires_at: '2020-01-01T00:00:00.000Z' }
    t.equal(
      wireText((await manager.ask('POST', `${admin}/api-keys`, past)).body, {}),
      '{"error":{"message":"expires_at is in the past","type":"invalid_request_error","code":"invalid_input","param":"expires_at"}}',
    )
  })

  t.test('limits', async (t) => {
    const slow = await organization.key({ rate_limit_minute: 1 })
    await slow.sessions()
    t.equal(
      wireText((await slow.sessions()).body, {}),
      '{"error":"rate_limit_exceeded","message":"Rate limit exceeded: 1 requests per minute","limit":1,"window":"minute","reset_at":0,"retry_after":1}',
    )
    t.equal(
      wireText((await slow.chat({ messages })).body, {}),
      '{"error":{"message":"Rate limit exceeded: 1 requests per minute","type":"rate_limit_error","code":"rate_limit_exceeded","limit":1,"window":"minute","reset_at":0,"retry_after":1}}',
    )
    const nested = { error: { code: 'rate_limit_exceeded', limit: 1, window: 'minute' } }
    for (const path of ['/v1/nothing', '/v1/responses/compact', '/v1'])
      t.match((await slow.ask('POST', api(path), {})).body, nested, path)
    t.match((await slow.ask('POST', api('/v10'), {})).body, { error: 'rate_limit_exceeded' })
    const socket = await connect(server.url, { 'x-api-key': slow.key })
    socket.send({ type: 'message', content: 'Hi' })
    const refused = (await socket.until('error')).at(-1)
    t.equal(
      wireText(refused, {}),
      '{"type":"error","error":{"message":"Rate limit exceeded: 1 requests per minute","type":"rate_limit_error","code":"rate_limit_exceeded","limit":1,"window":"minute","reset_at":0,"retry_after":1}}',
    )
    socket.close()
  })

  t.test('a frame', async (t) => {
    const socket = await connect(server.url, { 'x-api-key': key.key })
    for (const [frame, body] of [
      [
        { type: 'message', content: 5, id: 1 },
        '{"type":"error","error":{"message":"content: A string, or an array of parts is expected","type":"invalid_request_error","code":"invalid_input","param":"content"},"id":1}',
      ],
      [
        { type: 'message', content: 'Hi', id: 2, on_behalf_of: 'none' },
        '{"type":"error","error":{"message":"The organization has no such user","type":"invalid_request_error","code":"user_not_found"},"id":2}',
      ],
      [
        { type: 'file', datastore_id: 'x', filename: 'a.exe', content: 'TVo=', id: 3 },
        '{"type":"error","error":{"message":"a.exe: the file type is not supported. Supported: TYPES","type":"validation_error","code":"unsupported_file_type","filename":"a.exe"},"id":3}',
      ],
    ] as const) {
      socket.send(frame)
      const refused = (await socket.until('error')).at(-1)
      t.equal(wireText(refused, {}).replace(/(?<=Supported: )[^"]+/, 'TYPES'), body)
    }
    socket.close()
  })

  t.test('subscription and credits', async (t) => {
    const poor = await server.platform.organization({ credits: 0 })
    const debt = { amount: -1.5, reason: 'debt' }
    await server.platform.ask('POST', `/users/${poor.ownerId}/credits`, debt)
    const poorKey = await poor.key()
    const credits =
      '{"error":{"message":"Not enough credits","type":"insufficient_credits","code":"insufficient_credits"},"credit_balance":-1.5,"effective_balance":-1.5,"can_use_api":false}'
    t.equal(wireText((await poorKey.chat({ messages })).body, {}), credits)
    await server.platform.ask('PUT', `/users/${poor.ownerId}/subscription`, { plan: null })
    t.equal(
      wireText((await poorKey.ask('POST', api('/v1/warmup'))).body, {}),
      '{"error":{"message":"An active Basic or Pro subscription is required","type":"subscription_required","code":"no_subscription"},"has_subscription":false,"required_plans":["basic_monthly","pro_monthly"]}',
    )
  })

  t.test('documents', async (t) => {
    const id = await rag.datastore('Terms')
    const names = { [id]: 'DATASTORE' }
    t.equal(
      wireText((await rag.ask('POST', '/datastores', { display_name: 'terms' })).body, names),
      '{"detail":{"error":{"message":"A DataStore with the display name \'terms\' already exists","type":"conflict_error","code":"datastore_exists","existing_datastore_id":"DATASTORE"}}}',
    )
    const reader = await organization.agent({ name: 'Reader', datastore_ids: [id] })
    t.equal(
      wireText((await rag.ask('DELETE', `/datastores/${id}`)).body, { [reader]: 'AGENT' }),
      '{"detail":{"error":{"message":"The DataStore is in use by: Reader","type":"conflict_error","code":"datastore_in_use","agents":[{"agent_id":"AGENT","name":"Reader"}]}}}',
    )
    t.equal(
      wireText((await rag.upload(id, { ...encodedFile('a.txt', 'a'), content: '!' })).body, names),
      '{"detail":{"error":{"message":"a.txt: the content is not valid base64","type":"validation_error","code":"invalid_base64","filename":"a.txt"}}}',
    )
    t.equal(
      wireText((await rag.ask('POST', '/datastores', { display_name: 5 })).body, names),
      '{"detail":[{"loc":["body","display_name"],"msg":"Invalid input: expected string, received number","type":"invalid_type"}]}',
    )
  })

  t.test('agents', async (t) => {
    const below = await organization.agent({ name: 'Below' })
    const above = await organization.agent({ name: 'Above', sub_agents: [below] })
    const names = { [below]: 'BELOW', [above]: 'ABOVE' }
    const change = (id: string, body: object) => manager.ask('PATCH', `${admin}/agents/${id}`, body)
    t.equal(
      wireText((await manager.ask('DELETE', `${admin}/agents/${below}`)).body, names),
      '{"error":{"message":"The agent is run by: Above","type":"conflict_error","code":"agent_in_use"},"agents":[{"agent_id":"ABOVE","name":"Above"}]}',
    )
    t.equal(
      wireText((await change(above, { sub_agents: [below, 'none'] })).body, names),
      '{"error":{"message":"The organization has no agent none","type":"invalid_request_error","code":"unknown_sub_agent","param":"sub_agents.1"}}',
    )
    t.equal(
      wireText((await change(below, { sub_agents: [above] })).body, names),
      '{"error":{"message":"An agent cannot run itself: Below → Above → Below","type":"invalid_request_error","code":"agent_cycle","param":"sub_agents"}}',
    )
    const tool = { type: 'api_call', name: 'a', description: '', method: 'GET', url: 'ftp://a' }
    t.match(
      wireText((await change(below, { tools: [tool] })).body, names),
      '"code":"invalid_tool","param":"tools.0.url"}}',
    )
  })

  t.test('people', async (t) => {
    const person = { email: 'nobody', organization_id: organizationId }
    t.equal(
      wireText((await ask('POST', api('/management/users'), person)).body, {}),
      '{"detail":[{"loc":["body","email"],"msg":"not an email address","type":"value_error.email"}]}',
    )
    const user_id = await provisioned('partner@example.com')
    const agent_id = await organization.agent({ name: 'Plain' })
    const link = { agent_id, return_url: 'https://example.com' }
    t.equal(
      wireText(
        (await ask('POST', api(`/management/users/${user_id}/connect-links`), link)).body,
        {},
      ),
      '{"detail":"The agent and those below it need no credentials of the user","skipped":[]}',
    )
    const credential = (name: string, value: string) =>
      ask('PUT', api(`/management/users/${user_id}/credentials/${name}`), { value })
    t.match(
      wireText((await credential('A', ' x')).body, {}),
      /^\{"detail":"A credential is [^"]+"\}$/,
    )
    t.match(
      wireText((await credential('a', 'x')).body, {}),
      /^\{"detail":\{"name":\["[^"]+"\]\}\}$/,
    )
  })
})
