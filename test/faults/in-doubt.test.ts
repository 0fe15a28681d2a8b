import t from 'tap'
import { contents, user } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { apiCall, countingWorld, lastAnswer as text } from '../support/run-world.ts'
import { startServer } from '../support/server.ts'

// Several lives of a server.
t.setTimeout(300_000)

t.test(
  'killed in a call that writes: the run waits until somebody says what came of it',
  async (t) => {
    const { provider, tools, env } = await countingWorld(t)
    const server = await startServer(t, env)
    const organization = await server.platform.organization()
    const { ownerId } = organization
    const shop = await organization.agent({
      name: 'Shop',
      tools: [
        apiCall(tools.url, 'pay', 'POST', { on_unknown: 'ask' }),
        apiCall(tools.url, 'refund', 'POST', { on_unknown: 'ask', requires_approval: true }),
      ],
    })
    const { key } = await organization.key({ type: 'user', user_id: ownerId })
    const scopes = ['orchestrator:invoke', 'sessions:read', 'approvals:decide']
    const memberId = await organization.member()
    const member = await organization.key({ type: 'user', user_id: memberId })
    const narrow = await organization.key({ scopes: ['sessions:read'] })
    const strangers = await (await server.platform.organization()).key({ scopes })

    const owner = () => server.as(key)
    const sessions = ['made', 'not-made', 'again', 'cancelled', 'left']
    const turns: Promise<unknown>[] = []
    tools.hold('/pay')
    for (const [n, session_id] of sessions.entries()) {
      provider.next({ text: 'I pay. ', calls: [{ name: 'pay', arguments: { order: session_id } }] })
      const request = { model: shop, session_id, messages: user(session_id) }
      turns.push(
        owner()
          .chat(request)
          .catch(() => undefined),
      )
      await tools.received('/pay', n + 1)
    }
    provider.next({ text: 'I ask. ', calls: [{ name: 'refund', arguments: {} }] })
    const refunded = { model: shop, session_id: 'approved', messages: user('approved') }
    const [pending] = (await owner().chat(refunded)).body.pending_approvals
    const { approval_id, arguments_digest } = pending
    const approve = { decision: 'approve', arguments_digest }
    tools.hold('/refund')
    await owner().ask('POST', `/api/external/approvals/${approval_id}`, approve)
    await tools.received('/refund', 1)
    const began = provider.requests.length

    const untilInDoubt = (session: string) =>
      eventually(async () => {
        const { body } = await owner().status(session)
        return body.state === 'in_doubt' ? body : undefined
      })
    const over = (session: string) =>
      eventually(async () => {
        const { body } = await owner().status(session)
        return !body.is_processing && !body.state
      })
    const live = async () => {
      await server.kill9()
      await server.restart()
    }
    await live()
    await Promise.all(turns)
    for (const session of [...sessions, 'approved']) await untilInDoubt(session)
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    t.match(metrics, /reprise_runs_waiting\{state="in_doubt"\} \d/)
    t.match(metrics, /reprise_runs_total\{outcome="in_doubt",model="[^"]+"\} 6/)
    await live()

    type Call = { run_id: string; tool_id: string }
    const calls = new Map<string, Call>()
    for (const session of [...sessions, 'approved']) {
      const body = await untilInDoubt(session)
      t.match(body, {
        is_processing: false,
        in_doubt: [
          {
            tool_name: session === 'approved' ? 'refund' : 'pay',
            agent_name: 'Shop',
            arguments_digest: /^[\da-f]{64}$/,
          },
        ],
      })
      const [call] = body.in_doubt
      t.notHas(call, 'at')
      calls.set(session, call)
    }
    t.equal(tools.timesOf('/pay'), sessions.length, 'nothing is called again')
    t.equal(provider.requests.length, began, 'no model is asked meanwhile')
    const held = await server.platform.balanceOf(ownerId)
    t.ok(held.effective < held.balance, 'credits stay reserved')

    const reportOutcome = (session: string, body: object, by = key, change: Partial<Call> = {}) => {
      const { run_id, tool_id } = { run_id: '', tool_id: '', ...calls.get(session), ...change }
      const path = `/api/external/sessions/${session}/runs/${run_id}/tools/${tool_id}/outcome`
      return server.as(by).ask('POST', path, body)
    }
    const outcome = { outcome: 'done', result: 'Paid: 4711' }
    const unseen = { status: 404, code: 'session_not_found' }
    t.match(await reportOutcome('made', outcome, strangers.key), unseen, 'another tenant')
    t.match(await reportOutcome('made', outcome, member.key), unseen, 'another user')
    t.match(await reportOutcome('made', outcome, narrow.key), {
      status: 403,
      code: 'insufficient_scopes',
    })
    t.match(await reportOutcome('nowhere', outcome, key, calls.get('made')), unseen)
    const known = { status: 409, code: 'tool_not_in_doubt' }
    t.match(await reportOutcome('made', outcome, key, { tool_id: 'other' }), known)
    t.match(await reportOutcome('made', outcome, key, { run_id: 'other' }), known)
    const other = { ...outcome, arguments_digest: '0'.repeat(64) }
    t.match(await reportOutcome('made', other), { status: 409, code: 'arguments_changed' })
    for (const wrong of [
      { outcome: 'maybe' },
      { outcome: 'not_done', result: 'x' },
      { ...outcome, result: 'x'.repeat(20_001) },
    ])
      t.match(await reportOutcome('made', wrong), { status: 400 })

    t.match(await reportOutcome('made', outcome), {
      status: 200,
      body: { session_id: 'made', outcome: 'done', told_by: ownerId },
    })
    t.match(await reportOutcome('made', outcome), known, 'a second time')
    await over('made')
    t.match(await reportOutcome('made', { outcome: 'not_done' }), known)
    t.equal(tools.timesOf('/pay'), sessions.length, 'what was done is not called again')
    t.strictSame(await contents(owner(), 'made'), ['made', `I pay. \n\n${text}`])
    t.equal(provider.requests.at(-1)?.body.messages.at(-1)?.content, 'Paid: 4711')

    t.match(await reportOutcome('again', { outcome: 'not_done' }), { status: 200 })
    await tools.received('/pay', sessions.length + 1)
    await live()
    await untilInDoubt('again')
    t.equal(tools.timesOf('/pay'), sessions.length + 1)
    t.match(
      await reportOutcome('again', { outcome: 'done' }),
      { status: 200 },
      'in doubt a second time',
    )
    await over('again')
    t.match(provider.requests.at(-1)?.body.messages.at(-1)?.content, /^This was done\./)

    tools.letGo()
    t.match(await reportOutcome('not-made', { outcome: 'not_done' }), { status: 200 })
    await over('not-made')
    t.equal(tools.timesOf('/pay'), sessions.length + 2, 'what was not done is called once more')
    t.match(provider.requests.at(-1)?.body.messages.at(-1)?.content, /"done":"\/pay"/)
    t.match(await reportOutcome('not-made', { outcome: 'not_done' }), known)

    t.match(await reportOutcome('approved', { outcome: 'not_done' }), { status: 200 })
    await over('approved')
    t.equal(tools.timesOf('/refund'), 2, 'it is called once more under its approval')

    t.match(await owner().cancel('cancelled'), { body: { cancelled: true } })
    await over('cancelled')
    t.match(await reportOutcome('cancelled', outcome), known)
    const next = { model: shop, session_id: 'left', messages: user('Never mind') }
    t.equal((await owner().chat(next)).status, 200)
    t.match(await reportOutcome('left', outcome), known)
    t.equal(tools.timesOf('/pay'), sessions.length + 2)

    const { balance, effective } = await server.platform.balanceOf(ownerId)
    t.equal(balance, effective, 'no credits are held')
    const path = `/organizations/${organization.organizationId}/audit/events?limit=500&type=ToolOutcomeTold`
    const { events } = await server.platform.ask('GET', path)
    t.match(events.map(({ data }: { data: { outcome: string } }) => data.outcome).toSorted(), [
      'done',
      'done',
      'not_done',
      'not_done',
    ])
    t.match(
      events.filter(({ data }: { data: { result?: string } }) => data.result),
      [{ data: { by: ownerId, result: 'Paid: 4711' } }],
    )
  },
)
