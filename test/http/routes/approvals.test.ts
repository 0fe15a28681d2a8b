import t from 'tap'
import { approvalScene, refundCall } from '../../support/approval-scene.ts'
import { contents, eventsOf, textOf, user } from '../../support/client.ts'
import { eventually } from '../../support/eventually.ts'
import { mcpClient } from '../../support/mcp-client.ts'
import { mcpServer } from '../../support/mcp-server.ts'
import { movableClock } from '../../support/server.ts'
import { json, web } from '../../support/web.ts'

t.test('a whole answer tells what waits, and the list shows it', async (t) => {
  const { requestRefund, list, key, site } = await approvalScene(t)
  const { status, body } = await requestRefund('s')
  t.equal(status, 200)
  const [pending, ...more] = body.pending_approvals
  t.strictSame(more, [])
  t.match(pending, {
    tool_name: 'refund',
    agent_name: 'Shop',
    arguments: { order: 'A-1', amount: 20 },
    arguments_digest: /^[\da-f]{64}$/,
  })
  t.match(body.choices, [{ finish_reason: 'stop', message: { content: 'Let me see. ' } }])
  t.match(await key.status('s'), { body: { is_processing: false, state: 'awaiting_approval' } })
  t.match(await list('?status=pending'), {
    status: 200,
    body: { approvals: [{ ...pending, session_id: 's', status: 'pending' }], total: 1 },
  })
  t.equal(site.requests.length, 0)
})

t.test('an approved call is made, and the turn runs to its end', async (t) => {
  const { requestRefund, decide, key, site, provider, organization } = await approvalScene(t)
  const { body } = await requestRefund('s')
  const [pending] = body.pending_approvals
  t.match(await decide(pending, 'approve'), { status: 200, body: { status: 'approved' } })
  const stream = await key.attach('s')
  const frames = await stream.all()
  t.match(frames[0]?.data, { event: 'run_resumed' })
  t.equal(textOf(frames), 'Let me see. \n\nDone.')
  t.strictSame(
    site.requests.map(({ body }) => JSON.parse(body)),
    [refundCall.arguments],
  )
  t.equal(provider.requests.length, 2, 'no model was asked twice')
  t.strictSame(await contents(key, 's'), ['Refund A-1', 'Let me see. \n\nDone.'])
  t.match(await key.status('s'), { body: { is_processing: false, state: undefined } })
  const { balance, effective } = await organization.balance()
  t.equal(balance, effective, 'nothing is reserved any more')
})

t.test('the model receives a denial and its reason', async (t) => {
  const { requestRefund, decide, list, key, site, provider } = await approvalScene(t)
  const { body } = await requestRefund('s')
  const [pending] = body.pending_approvals
  const denied = await decide(pending, 'deny', { reason: 'Too much' })
  t.match(denied, { status: 200, body: { status: 'denied' } })
  await (await key.attach('s')).all()
  t.equal(site.requests.length, 0)
  const content = provider.requests.at(-1)?.body.messages.at(-1)?.content
  t.match(content, /denied, and not made.*Too much/)
  t.match(await list('?status=denied'), {
    body: { approvals: [{ status: 'denied', reason: 'Too much', decided_at: String }] },
  })
})

t.test('a call is decided once, by its digest', async (t) => {
  const { requestRefund, decide, site, key } = await approvalScene(t)
  const { body } = await requestRefund('s')
  const [pending] = body.pending_approvals
  const other = { ...pending, arguments_digest: '0'.repeat(64) }
  t.match(await decide(other, 'approve'), { status: 409, code: 'arguments_changed' })
  const both = await Promise.all([decide(pending, 'approve'), decide(pending, 'approve')])
  t.strictSame(both.map(({ status }) => status).toSorted(), [200, 409])
  await (await key.attach('s')).all()
  t.match(await decide(pending, 'deny'), { status: 409, code: 'approval_decided' })
  t.equal(site.requests.length, 1)
  t.match(await decide({ ...pending, approval_id: 'none' }, 'deny'), {
    status: 404,
    code: 'approval_not_found',
  })
  for (const wrong of [
    { decision: 'maybe' },
    { reason: 'x'.repeat(2_001) },
    { arguments_digest: 7 },
  ])
    t.match(await decide(pending, 'approve', wrong), { status: 400 }, JSON.stringify(wrong))
  t.match(await decide(pending, 'approve', { decision: null }), {
    status: 400,
    code: 'invalid_input',
    body: { detail: [{ loc: ['body', 'decision'], type: 'missing' }] },
  })
})

t.test('approvals of users are seen and decided by their user or a delegate alone', async (t) => {
  const { requestRefund, decide, list, member, server, organization } = await approvalScene(t)
  const scopes = ['orchestrator:invoke', 'approvals:read', 'approvals:decide']
  const { id: ann, key: anns } = await member()
  const application = await organization.key({ scopes })
  const other = await organization.key({ scopes })
  const delegate = await organization.key({ scopes: [...scopes, 'users:delegate'] })
  const strangers = await (await server.platform.organization()).key({ scopes })
  const narrow = await organization.key({ scopes: ['orchestrator:invoke'] })

  const { body } = await requestRefund('of-ann', anns)
  const [pending] = body.pending_approvals
  for (const [name, key] of Object.entries({ application, delegate, strangers })) {
    t.match(await decide(pending, 'approve', {}, key), { status: 404 }, name)
    t.match(await list('', key), { body: { total: 0 } }, name)
  }
  t.match(await decide(pending, 'approve', {}, narrow), {
    status: 403,
    code: 'insufficient_scopes',
  })
  t.match(await list('', narrow), { status: 403 })
  t.match(await list('?approver=admin', anns), { status: 403, code: 'role_required' })
  t.match(await decide(pending, 'approve', { on_behalf_of: ann }, application), {
    status: 403,
    code: 'insufficient_scopes',
  })
  t.match(await list(`?on_behalf_of=${ann}`, delegate), { body: { total: 1 } })
  t.match(await decide(pending, 'approve', { on_behalf_of: ann }, delegate), {
    status: 200,
    body: { decided_by: ann },
  })

  const through = await requestRefund('through', application)
  const [its] = through.body.pending_approvals
  t.match(await decide(its, 'deny', {}, other), { status: 404 }, 'of another key')
  t.match(await decide(its, 'deny', {}, application), { status: 200 })
})

t.test('approvals of admins are decided by an admin, not by the user', async (t) => {
  const { requestRefund, decide, list, key, member, organization } = await approvalScene(t, {
    approver: 'admin',
  })
  const { id: ann, key: anns } = await member()
  const scopes = ['approvals:read', 'approvals:decide', 'users:delegate']
  const delegate = await organization.key({ scopes })
  const { body } = await requestRefund('of-ann', anns)
  const [pending] = body.pending_approvals
  t.match(await list('?status=pending', anns), { body: { approvals: [{ approver: 'admin' }] } })
  t.match(await decide(pending, 'approve', {}, anns), { status: 403, code: 'role_required' })
  t.match(await decide(pending, 'approve', { on_behalf_of: ann }, delegate), {
    status: 403,
    code: 'role_required',
  })
  t.match(await list('', key), { body: { total: 0 } }, 'not of an own session')
  t.match(await list('?approver=admin', key), { body: { total: 1 } })
  t.match(await decide(pending, 'approve'), {
    status: 200,
    body: { decided_by: organization.ownerId },
  })
})

t.test('one approval is the item of the list, before and after its decision', async (t) => {
  const { requestRefund, decide, list, get, key } = await approvalScene(t)
  const { body } = await requestRefund('s')
  const [pending] = body.pending_approvals
  const itemOf = async () => (await list()).body.approvals[0]
  t.match(await get(pending.approval_id), { status: 200, body: { status: 'pending', ...pending } })
  t.strictSame((await get(pending.approval_id)).body, await itemOf())
  await decide(pending, 'deny', { reason: 'Too much' })
  await (await key.attach('s')).all()
  const denied = await get(pending.approval_id)
  t.match(denied.body, { status: 'denied', reason: 'Too much' })
  t.strictSame(denied.body, await itemOf())
  t.match(await get('none'), { status: 404, code: 'approval_not_found' })
})

t.test('one approval is shown to those who find it in a list', async (t) => {
  const { requestRefund, get, member, server, organization } = await approvalScene(t)
  const scopes = ['orchestrator:invoke', 'approvals:read']
  const { id: ann, key: anns } = await member()
  const { key: bens } = await member()
  const application = await organization.key({ scopes })
  const delegate = await organization.key({ scopes: [...scopes, 'users:delegate'] })
  const strangers = await (await server.platform.organization()).key({ scopes })
  const narrow = await organization.key({ scopes: ['orchestrator:invoke', 'approvals:decide'] })
  const { approval_id: id } = (await requestRefund('of-ann', anns)).body.pending_approvals[0]
  t.match(await get(id, anns), { status: 200, body: { approval_id: id, user_id: ann } })
  const onBehalf = `?on_behalf_of=${ann}`
  t.match(await get(id, delegate, onBehalf), { status: 200, body: { approval_id: id } })
  const notFound = { status: 404, code: 'approval_not_found' }
  for (const [name, key] of Object.entries({ bens, application, delegate, strangers }))
    t.match(await get(id, key), notFound, name)
  t.match(await get(id), notFound, 'an admin, of a call that its user decides')
  for (const [key, query] of [
    [narrow, ''],
    [application, onBehalf],
  ] as const)
    t.match(await get(id, key, query), { status: 403, code: 'insufficient_scopes' })
})

t.test('an admin reads an approval that admins decide, and no delegate of hers', async (t) => {
  const { requestRefund, get, member, organization } = await approvalScene(t, {
    approver: 'admin',
  })
  const { id: ann, key: anns } = await member()
  const { id: ben } = await member()
  const scopes = ['approvals:read', 'users:delegate']
  const delegate = await organization.key({ scopes })
  const { approval_id: id } = (await requestRefund('of-ann', anns)).body.pending_approvals[0]
  for (const key of [undefined, anns]) t.match(await get(id, key), { body: { approver: 'admin' } })
  t.match(await get(id, delegate, `?on_behalf_of=${ann}`), { status: 200 })
  t.match(await get(id, delegate, `?on_behalf_of=${ben}`), { status: 404 })
  t.match(await get(id, delegate, `?on_behalf_of=${organization.ownerId}`), { status: 404 })
})

t.test('an approval of an erased session is not found', async (t) => {
  const { provider, shop, get, organization } = await approvalScene(t)
  const { organizationId: organization_id } = organization
  const rights = ['approvals:read', 'sessions:delete', 'users:provision', 'users:delegate']
  const partner = await organization.key({ scopes: ['orchestrator:invoke', ...rights] })
  const users = '/api/external/management/users'
  const guest = { email: 'guest@partner.example', organization_id }
  const { user_id: on_behalf_of } = (await partner.ask('POST', users, guest)).body
  provider.next({ text: 'Let me see. ', calls: [refundCall] })
  const messages = user('Refund A-1')
  const { body } = await partner.chat({ model: shop, session_id: 's', messages, on_behalf_of })
  const { approval_id: id } = body.pending_approvals[0]
  const query = `?on_behalf_of=${on_behalf_of}`
  t.match(await get(id, partner, query), { status: 200, body: { status: 'pending' } })
  t.match(await partner.ask('DELETE', `${users}/${on_behalf_of}/sessions/s`), { status: 200 })
  t.match(await get(id, partner, query), { status: 404, code: 'approval_not_found' })
})

t.test('a call without a decision in time is denied, and the turn continues', async (t) => {
  const clock = movableClock()
  const { requestRefund, decide, list, key, server, site, provider } = await approvalScene(
    t,
    { approval_ttl: 60 },
    { clock },
  )
  const { body } = await requestRefund('s')
  const [pending] = body.pending_approvals
  await server.tick()
  t.match(await list('?status=pending'), { body: { total: 1 } })
  clock.advance(61_000)
  t.match(await decide(pending, 'approve'), { status: 409, code: 'approval_decided' })
  await server.tick()
  await (await key.attach('s')).all()
  t.match(provider.requests.at(-1)?.body.messages.at(-1)?.content, /nobody approved this call/)
  t.match(await list('?status=expired'), { body: { total: 1 } })
  t.equal(site.requests.length, 0)
})

t.test('a call is denied soon after its time, without the recurring work', async (t) => {
  const { requestRefund, list, key, site } = await approvalScene(t, { approval_ttl: 1 })
  await requestRefund('s')
  await eventually(async () => (await list('?status=expired')).body.total === 1)
  await (await key.attach('s')).all()
  t.equal(site.requests.length, 0)
})

t.test(
  'a turn that waits is cancelled by its user, by a new message, and not by a restart',
  async (t) => {
    const { requestRefund, decide, list, key, organization, server } = await approvalScene(t)
    const cancelled = await requestRefund('cancelled')
    t.match(await key.cancel('cancelled'), { body: { cancelled: true } })
    t.match(await key.cancel('cancelled'), { body: { cancelled: false } })
    const [pending] = cancelled.body.pending_approvals
    t.match(await decide(pending, 'approve'), { status: 409, code: 'approval_decided' })
    t.strictSame(await contents(key, 'cancelled'), ['Refund A-1', 'Let me see. '])

    await requestRefund('changed')
    const next = await key.chat({ session_id: 'changed', messages: user('Never mind') })
    t.match(next, { status: 200, body: { pending_approvals: undefined } })
    t.match(await list('?status=withdrawn'), { body: { total: 2 } })
    t.match(await list('?status=pending'), { body: { total: 0 } })
    const { balance, effective } = await organization.balance()
    t.equal(balance, effective, 'nothing is reserved any more')

    await requestRefund('restarted')
    await server.restart()
    t.match(await server.as(key.key).ask('GET', '/api/external/approvals?status=pending'), {
      body: { total: 1 },
    })
  },
)

t.test(
  'a stream tells what waits, and the same request is answered by the turn that waits',
  async (t) => {
    const { key, provider, shop } = await approvalScene(t)
    provider.next({ text: 'Let me see. ', calls: [refundCall] })
    const request = { model: shop, session_id: 's', messages: user('Refund A-1') }
    const frames = await (await key.stream(request)).all()
    const [approval] = eventsOf(frames).filter(({ event }) => event === 'approval_required')
    t.match(approval, {
      tool_name: 'refund',
      arguments: refundCall.arguments,
      arguments_digest: String,
      agent_name: 'Shop',
      expires_at: String,
    })
    const last = frames.at(-2)?.data
    t.match(last, {
      choices: [{ finish_reason: 'stop' }],
      pending_approvals: [{ approval_id: approval.approval_id }],
    })
    t.equal(frames.at(-1)?.data, '[DONE]')
    const again = await (await key.attach('s')).all()
    t.match(
      eventsOf(again).filter(({ event }) => event === 'approval_required'),
      [approval],
      'followed again, it is told again',
    )
  },
)

t.test('branches side by side: one ends, two wait, and each goes on when it may', async (t) => {
  const { organization, key, site, refund, provider, decide } = await approvalScene(t)
  const branch = async (name: string) => organization.agent({ name, tools: [refund] })
  const sub_agents = [await branch('One'), await branch('Two'), await branch('Three')]
  const team = await organization.agent({ name: 'Team', agent_type: 'PARALLEL_AGENT', sub_agents })
  const call = (amount: number) => ({ calls: [{ name: 'refund', arguments: { amount } }] })
  provider.next(call(1), call(2), { text: 'Nothing to do.' })
  const { body } = await key.chat({ model: team, session_id: 's', messages: user('Refund all') })
  t.equal(body.pending_approvals.length, 2)
  const [first, second] = body.pending_approvals
  provider.next({ text: 'Refunded.' })
  await decide(first, 'approve')
  await (await key.attach('s')).all()
  t.strictSame(
    site.requests.map(({ body }) => JSON.parse(body)),
    [first.arguments],
  )
  t.match(await key.status('s'), { body: { state: 'awaiting_approval' } })
  provider.next({ text: 'As you wish.' })
  await decide(second, 'deny')
  await (await key.attach('s')).all()
  t.equal(site.requests.length, 1)
  const [, answer] = await contents(key, 's')
  for (const text of ['Refunded.', 'As you wish.', 'Nothing to do.']) t.match(answer, text)
  t.equal(provider.requests.length, 5)
})

t.test('a call is made only under the approved definition', async (t) => {
  const elsewhere = await web(t, (_, response) => json(response, { taken: true }))
  const { requestRefund, decide, key, site, provider, organization, refund, shop, server } =
    await approvalScene(t, {}, {}, elsewhere.host)
  const free = { ...refund, requires_approval: false }
  const changes: [string, object][] = [
    ['its address', { ...refund, url: `${elsewhere.url}/refunds` }],
    ['its address, without approval', { ...free, url: `${elsewhere.url}/refunds` }],
    ['its method, without approval', { ...free, method: 'DELETE' }],
    ['a header, without approval', { ...free, headers: { 'x-rate': '100' } }],
    ['its key, without approval', { ...free, idempotency_header: 'x-account' }],
    ['its parameters, without approval', { ...free, parameters: {} }],
  ]
  const path = `/organizations/${organization.organizationId}/agents/${shop}`
  const configure = (tool: object) => server.platform.ask('PATCH', path, { tools: [tool] })
  for (const [n, [change, tool]] of changes.entries()) {
    const session = `s-${n}`
    await configure(refund)
    const [pending] = (await requestRefund(session)).body.pending_approvals
    await configure(tool)
    t.match(await decide(pending, 'approve'), { status: 200 }, change)
    await (await key.attach(session)).all()
    const content = provider.requests.at(-1)?.body.messages.at(-1)?.content
    t.match(
      content,
      /the tool has changed since this call was approved, so it was not made/,
      change,
    )
  }
  t.equal(site.requests.length + elsewhere.requests.length, 0)

  await configure(refund)
  const [pending] = (await requestRefund('alike')).body.pending_approvals
  await configure({ ...free, description: 'Pays back' })
  await decide(pending, 'approve')
  await (await key.attach('alike')).all()
  t.equal(site.requests.length, 1, 'it is made where nothing changed that it does')
})

t.test('a tool of an MCP server waits too', async (t) => {
  const server = await mcpServer(t)
  const { organization, key, provider, decide } = await approvalScene(t, {}, {}, server.host)
  const adder = await organization.agent({
    name: 'Adder',
    mcp_servers: [{ name: 'math', url: server.url, requires_approval: true }],
  })
  provider.next({ calls: [{ name: 'add', arguments: { a: 1, b: 2 } }] })
  const { body } = await key.chat({ model: adder, session_id: 's', messages: user('Add') })
  t.equal(server.count('tools/call'), 0)
  await decide(body.pending_approvals[0], 'approve')
  await (await key.attach('s')).all()
  t.equal(server.count('tools/call'), 1)
  t.equal(provider.requests.at(-1)?.body.messages.at(-1)?.content, '3')
})

t.test('an approved tool of an MCP server is not called at another server', async (t) => {
  const original = await mcpServer(t)
  const other = await mcpServer(t)
  const hosts = `${original.host},${other.host}`
  const { organization, key, provider, decide, server } = await approvalScene(t, {}, {}, hosts)
  const at = (url: string, requires_approval: boolean) => ({
    mcp_servers: [{ name: 'math', url, requires_approval }],
  })
  const adder = await organization.agent({ name: 'Adder', ...at(original.url, true) })
  provider.next({ calls: [{ name: 'add', arguments: { a: 1, b: 2 } }] })
  const { body } = await key.chat({ model: adder, session_id: 's', messages: user('Add') })
  const path = `/organizations/${organization.organizationId}/agents/${adder}`
  await server.platform.ask('PATCH', path, at(other.url, false))
  await decide(body.pending_approvals[0], 'approve')
  await (await key.attach('s')).all()
  t.equal(original.count('tools/call') + other.count('tools/call'), 0)
  t.match(provider.requests.at(-1)?.body.messages.at(-1)?.content, /the tool has changed since/)
})

t.test('lists and metrics tell which turns wait', async (t) => {
  const { requestRefund, decide, key, server } = await approvalScene(t)
  const waiting = async () => {
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    return metrics.match(/^reprise_runs_waiting\{.*$/gm)
  }
  const states = async () =>
    (await key.sessions()).body.sessions.map(({ state }: { state?: string }) => state)
  t.strictSame(await waiting(), [
    'reprise_runs_waiting{state="awaiting_approval"} 0',
    'reprise_runs_waiting{state="in_doubt"} 0',
  ])
  const { body } = await requestRefund('one')
  await requestRefund('two')
  t.strictSame(await states(), ['awaiting_approval', 'awaiting_approval'])
  t.match(await key.ask('GET', '/api/external/sessions/one'), {
    body: { state: 'awaiting_approval' },
  })
  t.match(await waiting(), ['reprise_runs_waiting{state="awaiting_approval"} 2', /in_doubt/])
  await decide(body.pending_approvals[0], 'deny')
  await (await key.attach('one')).all()
  await key.cancel('two')
  t.strictSame(await states(), [undefined, undefined])
  t.match(await waiting(), ['reprise_runs_waiting{state="awaiting_approval"} 0', /in_doubt/])
})

t.test('an agent that is a tool of MCP says that its turn waits', async (t) => {
  const { shop, key, provider, server, decide } = await approvalScene(t)
  const client = await mcpClient(t, server, key)
  const { tools } = await client.listTools()
  const name = tools.find((tool) => tool.title === 'Shop')?.name ?? ''
  for (const text of ['Let me see. ', '']) {
    provider.next({ text, calls: [refundCall] })
    const result = await client.callTool({ name, arguments: { message: 'Refund A-1' } })
    t.match(result, {
      content: [{ type: 'text', text: /The call of refund by Shop waits for an approval until/ }],
      structuredContent: {
        agent_id: shop,
        response: text,
        state: 'awaiting_approval',
        pending_approvals: [{ tool_name: 'refund', arguments: refundCall.arguments }],
      },
    })
    t.notOk(result.isError)
    const { session_id, pending_approvals } = result.structuredContent as {
      session_id: string
      pending_approvals: [{ approval_id: string; arguments_digest: string }]
    }
    t.match(await decide(pending_approvals[0], 'approve'), { status: 200 })
    const frames = await (await key.attach(session_id)).all()
    t.match(textOf(frames), /Done\.$/)
  }
})

t.test('keys of a member do what users may, and nothing that takes an admin', async (t) => {
  const { requestRefund, list, decide, member, organization, server, shop } = await approvalScene(
    t,
    {
      approver: 'admin',
    },
  )
  const { id: ann, key: anns } = await member()
  const scopes = [
    'orchestrator:invoke',
    'approvals:read',
    'approvals:decide',
    'admin:read',
    'admin:write',
  ]
  const full = await organization.key({ type: 'user', user_id: ann, scopes })
  const backed = await organization.key({ user_id: ann, scopes: [...scopes, 'users:delegate'] })
  const { body } = await requestRefund('of-the-owner')
  const [pending] = body.pending_approvals
  const own = (await requestRefund('of-ann', anns)).body.pending_approvals[0]
  const agents = `/api/admin/organizations/${organization.organizationId}/agents`
  for (const [name, key] of Object.entries({ anns, full, backed })) {
    t.match(await list('?approver=admin', key), { status: 403, code: 'role_required' }, name)
    t.equal(
      (await decide(pending, 'approve', {}, key)).status,
      404,
      `${name}: of another's session`,
    )
    const ownDecision = await decide(own, 'approve', {}, key)
    t.ok(ownDecision.status === 403 || ownDecision.status === 404, `${name}: what admins decide`)
    t.match(await key.ask('PATCH', `${agents}/${shop}`, { limits: { max_steps: 1 } }), {
      status: 403,
    })
    const outcome = '/api/external/sessions/of-the-owner/runs/run/tools/tool/outcome'
    t.match(
      await key.ask('POST', outcome, { outcome: 'done' }),
      { status: 404 },
      `${name}: outcome`,
    )
  }
  const delegated = { on_behalf_of: organization.ownerId }
  t.match(await list(`?approver=admin&on_behalf_of=${organization.ownerId}`, backed), {
    status: 403,
  })
  const decided = await decide(pending, 'approve', delegated, backed)
  t.not(decided.status, 200, 'nobody borrows the role of the user that they act for')
  const waiting = await list('?approver=admin')
  t.match(waiting.body, { total: 2, approvals: [{ status: 'pending' }, { status: 'pending' }] })
  const { status } = await server.as(anns.key).status('of-ann')
  t.equal(status, 200)
})

t.test(
  'a turn that waits: its fork, its erasure, and what its user has lost meanwhile',
  async (t) => {
    const { requestRefund, decide, list, key, site, server, organization, shop } =
      await approvalScene(t)
    const pendingIn = async (session: string) =>
      (await requestRefund(session)).body.pending_approvals[0]

    const forked = await pendingIn('source')
    const path = '/api/external/sessions/source/fork'
    t.match(await key.ask('POST', path, { session_id: 'fork' }), { status: 201 })
    t.strictSame(await contents(key, 'fork'), ['Refund A-1'], 'the run stays with its source')
    t.match((await key.status('fork')).body, { is_processing: false, state: undefined })
    const next = { model: shop, session_id: 'fork', messages: user('Next') }
    t.match(await key.chat(next), { status: 200 })
    t.match(await key.status('source'), { body: { state: 'awaiting_approval' } })
    t.match(await decide(forked, 'approve'), { status: 200 })
    await (await key.attach('source')).all()
    t.equal(site.requests.length, 1)

    const erased = await pendingIn('erased')
    const [{ run_id }] = (await list('?status=pending')).body.approvals
    const scopes = ['sessions:delete']
    const eraser = await organization.key({ type: 'user', user_id: organization.ownerId, scopes })
    const reply = await eraser.ask('DELETE', `/api/external/v1/responses/resp_${run_id}`)
    t.match(reply, { status: 200 })
    t.match(await decide(erased, 'approve'), { status: 404 })
    t.match(await list('?status=pending'), { body: { total: 0 } })
    t.equal(site.requests.length, 1)

    // Its credits are reserved; others spend the rest.
    const poor = await pendingIn('poor')
    const { ownerId } = organization
    const { effective } = await organization.balance()
    const spending = { amount: -effective - 1, reason: 'test' }
    await server.platform.ask('POST', `/users/${ownerId}/credits`, spending)
    t.match(await key.chat({ model: shop, messages: user('No') }), { code: 'insufficient_credits' })
    t.match(await decide(poor, 'approve'), { status: 200 })
    await (await key.attach('poor')).all()
    t.equal(site.requests.length, 2, 'a turn that had begun is ended')
    await server.platform.ask('POST', `/users/${ownerId}/credits`, { amount: 200, reason: 'test' })

    const { balance, effective: left } = await organization.balance()
    t.equal(balance, left, 'no credits are held')
  },
)

t.test('an agent that is gone ends its turn, and the calls beside are withdrawn', async (t) => {
  const { key, decide, list, shop, provider, server, organization, site } = await approvalScene(t)
  provider.next({ calls: [refundCall, { ...refundCall, arguments: { order: 'A-2' } }] })
  const request = { model: shop, session_id: 's', messages: user('Refund both') }
  const [first, second] = (await key.chat(request)).body.pending_approvals
  const path = `/organizations/${organization.organizationId}/agents/${shop}`
  await server.platform.ask('DELETE', path)
  t.match(await decide(first, 'approve'), { status: 200 })
  await eventually(async () => {
    const { body } = await key.status('s')
    return !body.is_processing && !body.state
  })
  t.match(await list('?status=pending'), { body: { total: 0 } })
  t.match(await decide(second, 'approve'), { status: 409, code: 'approval_decided' })
  t.equal(site.requests.length, 0)
  await server.tick()
  const { balance, effective } = await organization.balance()
  t.equal(balance, effective, 'no credits are held')
})

t.test('an approval names the session’s user, whose conversation a delegate reads', async (t) => {
  const { requestRefund, list, member, organization } = await approvalScene(t, {
    approver: 'admin',
  })
  const { id, key: theirs } = await member()
  await requestRefund('s', theirs)
  const [approval] = (await list('?approver=admin&status=pending')).body.approvals
  t.match(approval, {
    user_id: id,
    session_id: 's',
    run_id: String,
    tool_name: 'refund',
    agent_name: 'Shop',
    arguments: refundCall.arguments,
    expires_at: String,
  })
  t.equal(approval.key_id, undefined)
  const delegate = await organization.key({ scopes: ['sessions:messages', 'users:delegate'] })
  const { status, body } = await delegate.messages('s', `?on_behalf_of=${approval.user_id}`)
  t.equal(status, 200)
  t.match(body.messages, [{ content: 'Refund A-1' }])
})
