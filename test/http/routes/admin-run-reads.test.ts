import t, { type Test } from 'tap'
import { approvalScene } from '../../support/approval-scene.ts'
import { user } from '../../support/client.ts'
import { partner } from '../../support/partner.ts'
import { superAdminKey } from '../../support/platform.ts'
import { type StartedApp, startApp, startChat } from '../../support/server.ts'

type Run = { run_id: string; [field: string]: unknown }

/** Asks for runs of an organization, with the platform's key unless told otherwise. */
const runsOf = (server: StartedApp, organizationId: string, key = superAdminKey) => {
  const at = `/api/admin/organizations/${organizationId}/runs`
  const ask = server.clientOf(key)
  const list = (query = '') => ask('GET', `${at}${query}`)
  const ids = async (query = ''): Promise<string[]> =>
    (await list(query)).body.runs.map(({ run_id }: Run) => run_id)
  return { list, ids, open: (run: string, query = '') => ask('GET', `${at}/${run}${query}`) }
}

const runOf = ({ body }: { body: { id: string } }) => body.id.replace('chatcmpl-', '')

const scene = async (t: Test, options: object = {}) => {
  const chat = await startChat(t, { text: 'Answer.' }, options)
  return { ...chat, runs: runsOf(chat.server, chat.organization.organizationId) }
}

t.test('a completed run is listed with its costs, and opened with its steps', async (t) => {
  const { key, runs, organization } = await scene(t, { laterApart: true })
  const agent_id = await organization.orchestrator()
  const run_id = runOf(await key.chat({ messages: user('One'), session_id: 's' }))
  const { status, body } = await runs.list()
  t.equal(status, 200)
  t.equal(body.next_cursor, null)
  const [run] = body.runs
  t.match(run, {
    run_id,
    session_id: 's',
    user_id: organization.ownerId,
    agent_id,
    agent_name: 'Orchestrator',
    models: ['test/model'],
    status: 'completed',
    code: null,
    duration_ms: Number,
    time_to_first_token_ms: Number,
    prompt_tokens: Number,
    completion_tokens: Number,
    charge: Number,
    attempts: 1,
  })
  const { steps, next_after, ...same } = (await runs.open(run_id)).body
  t.strictSame(same, run)
  t.equal(next_after, null)
  t.match(steps, [
    { step_id: 'attempt-1', parent_id: null, kind: 'attempt', status: 'completed', tokens: null },
    { step_id: '0', parent_id: null, kind: 'agent', name: 'Orchestrator', status: 'completed' },
    { step_id: '0/1', parent_id: '0', kind: 'model', name: 'test/model', status: 'completed' },
  ])
  for (const step of steps.slice(1)) {
    t.equal(step.tokens, run.prompt_tokens + run.completion_tokens)
    t.equal(step.charge, run.charge)
    t.type(step.duration_ms, 'number')
  }
})

t.test('calls of tools, approvals and attempts are steps, without their arguments', async (t) => {
  const { requestRefund, decide, key, organization, server } = await approvalScene(t)
  const runs = runsOf(server, organization.organizationId)
  const { body } = await requestRefund('s')
  const run_id = body.id.replace('chatcmpl-', '')
  t.match((await runs.open(run_id)).body, {
    status: 'awaiting_approval',
    duration_ms: null,
    steps: [
      { kind: 'attempt', status: 'paused' },
      { kind: 'agent', name: 'Orchestrator', status: 'running' },
      { kind: 'agent', name: 'Shop', parent_id: '0', status: 'running' },
      { kind: 'model', status: 'completed', duration_ms: Number, charge: Number },
      { kind: 'approval', name: 'refund', status: 'pending', duration_ms: null },
    ],
  })
  t.strictSame(await runs.ids('?status=awaiting_approval'), [run_id])
  await decide(body.pending_approvals[0], 'approve')
  await (await key.attach('s')).all()
  const opened = await runs.open(run_id)
  t.match(opened.body, { status: 'completed', attempts: 2 })
  t.match(
    opened.body.steps.map(({ kind, status }: { kind: string; status: string }) => [kind, status]),
    [
      ['attempt', 'paused'],
      ['agent', 'completed'],
      ['agent', 'completed'],
      ['model', 'completed'],
      ['approval', 'approved'],
      ['attempt', 'completed'],
      ['tool', 'completed'],
      ['model', 'completed'],
    ],
  )
  t.notMatch(JSON.stringify(opened.body), /A-1/)
  const ids: string[] = []
  for (let after: number | null = -1; after !== null; ) {
    const page: { body: { steps: { step_id: string }[]; next_after: number | null } } =
      await runs.open(run_id, `?limit=2${after < 0 ? '' : `&after=${after}`}`)
    ids.push(...page.body.steps.map(({ step_id }) => step_id))
    after = page.body.next_after
  }
  t.strictSame(
    ids,
    opened.body.steps.map(({ step_id }: { step_id: string }) => step_id),
  )
})

t.test('a hand-over is a step below the first agent, its model counted apart', async (t) => {
  const { key, runs, provider, organization, server } = await scene(t)
  const agent_id = await organization.orchestrator()
  const below = await organization.agent({ name: 'Librarian', model: 'test/other' })
  const at = `/organizations/${organization.organizationId}/agents/${agent_id}`
  await server.platform.ask('PATCH', at, { sub_agents: [below] })
  provider.next({ calls: [{ name: 'transfer_to_agent', arguments: { agent_name: 'Librarian' } }] })
  const run_id = runOf(await key.chat({ messages: user('One') }))
  t.match((await runs.open(run_id)).body.steps, [
    { kind: 'attempt' },
    { step_id: '0', kind: 'agent', name: 'Orchestrator' },
    { step_id: '0/1', kind: 'model', name: 'test/model', agent_name: 'Orchestrator' },
    { step_id: '0.t', parent_id: '0', kind: 'agent', name: 'Librarian' },
    { step_id: '0.t/1', parent_id: '0.t', kind: 'model', name: 'test/other' },
  ])
  t.match((await runs.list('?model=test/other')).body.runs, [
    { run_id, models: ['test/model', 'test/other'] },
  ])
  const [end] = await server.platform.events(organization.organizationId, 'RunCompleted')
  const { models, charge, promptTokens, firstTokenMs, durationMs } = end.data
  t.match(models, [{ model: 'test/model' }, { model: 'test/other' }])
  const sum = (field: string) =>
    models.reduce((all: number, use: Record<string, number>) => all + Number(use[field]), 0)
  t.strictSame([sum('charge'), sum('promptTokens')], [charge, promptTokens])
  t.ok(firstTokenMs <= durationMs)
  const [answer] = await server.platform.events(organization.organizationId, 'ModelAnswered')
  t.type(answer.data.durationMs, 'number')
  const usage = await server.platform.ask(
    'GET',
    `/organizations/${organization.organizationId}/usage?by=model`,
  )
  t.match(usage.usage, [
    { model: 'test/model', runs: 1 },
    { model: 'test/other', runs: 0 },
  ])
})

t.test('a failed run says why, and is found by its status', async (t) => {
  const { key, runs, provider } = await scene(t)
  const good = runOf(await key.chat({ messages: user('One') }))
  provider.next({ status: 400, raw: '' })
  await key.chat({ messages: user('Two') })
  const { body } = await runs.list('?status=failed')
  t.match(body.runs, [{ status: 'failed', code: String, duration_ms: Number }])
  t.equal(body.runs.length, 1)
  t.not(body.runs[0].run_id, good)
  t.match((await runs.open(body.runs[0].run_id)).body.steps, [
    { kind: 'attempt', status: 'failed' },
    { kind: 'agent', status: 'failed', code: undefined },
    {
      step_id: '0/1',
      parent_id: '0',
      kind: 'model',
      name: 'test/model',
      agent_name: 'Orchestrator',
      started_at: String,
      duration_ms: Number,
      status: 'failed',
      tokens: null,
      charge: null,
      code: body.runs[0].code,
    },
  ])
})

t.test('a call of a model that fails after an answer is the step after it', async (t) => {
  const tool = { type: 'remember' }
  const { key, runs, provider, organization } = await scene(t)
  const model = await organization.agent({ name: 'Noted', tools: [tool] })
  const calls = [{ name: 'remember', arguments: { key: 'a', text: 'b' } }]
  provider.next({ text: 'Let me note it. ', calls }, { status: 400, raw: '' })
  await key.chat({ model, messages: user('One') })
  const [run_id = ''] = await runs.ids('?status=failed')
  const { steps, code } = (await runs.open(run_id)).body
  t.match(
    steps.map(({ step_id, kind, status, code }: Run) => ({ step_id, kind, status, code })),
    [
      { kind: 'attempt', status: 'failed' },
      { step_id: '0', kind: 'agent', status: 'failed' },
      { step_id: '0.t', kind: 'agent', status: 'failed' },
      { step_id: '0.t/1', kind: 'model', status: 'completed' },
      { step_id: '0.t/1/0', kind: 'tool', status: 'completed' },
      { step_id: '0.t/2', kind: 'model', status: 'failed', code },
    ],
  )
})

t.test('each filter finds its runs, in each sort', async (t) => {
  const { key, runs, organization } = await scene(t)
  const first = runOf(await key.chat({ messages: user('One'), session_id: 'first' }))
  const agent = await organization.agent({ name: 'Shop' })
  const second = runOf(
    await key.chat({ model: agent, messages: user('Two'), session_id: 'second' }),
  )
  const member = await organization.member()
  const started = (await runs.list(`?session_id=second`)).body.runs[0].started_at
  for (const sort of ['started_at', 'duration_ms', 'charge', 'tokens']) {
    const ids = (filter: string) => runs.ids(`?sort=${sort}&${filter}`)
    t.strictSame(await ids('session_id=first'), [first])
    t.strictSame(await ids(`agent_id=${agent}`), [second])
    t.strictSame((await ids('model=test/model')).toSorted(), [first, second])
    t.strictSame(await ids('model=test/other'), [])
    t.strictSame((await ids(`user_id=${organization.ownerId}`)).toSorted(), [first, second])
    t.strictSame(await ids(`user_id=${member}`), [])
    t.strictSame((await ids('status=completed')).toSorted(), [first, second])
    t.strictSame(await ids('status=failed'), [])
    t.strictSame(await ids(`from=${started}`), [second])
    t.strictSame(await ids(`to=${started}`), [first])
    t.strictSame(await ids('from=2100-01-01'), [])
  }
})

t.test('pages follow one another by their cursor, in each sort', async (t) => {
  const { key, runs } = await scene(t)
  const all: string[] = []
  for (let n = 0; n < 5; n++) all.push(runOf(await key.chat({ messages: user('One') })))
  t.strictSame(await runs.ids(), all.toReversed(), 'the newest first')
  for (const sort of ['started_at', 'duration_ms', 'charge', 'tokens']) {
    const ids: string[] = []
    let cursor = ''
    do {
      const { body } = await runs.list(`?sort=${sort}&limit=2${cursor && `&cursor=${cursor}`}`)
      ids.push(...body.runs.map(({ run_id }: Run) => run_id))
      cursor = body.next_cursor ?? ''
    } while (cursor !== '')
    t.strictSame(ids, await runs.ids(`?sort=${sort}`), sort)
    t.strictSame(ids.toSorted(), all.toSorted(), sort)
  }
})

t.test('queries that cannot be answered are refused', async (t) => {
  const { key, runs, server } = await scene(t)
  const run_id = runOf(await key.chat({ messages: user('One') }))
  await key.chat({ messages: user('Two') })
  const { next_cursor } = (await runs.list('?limit=1')).body
  t.type(next_cursor, 'string')
  for (const query of [
    'colour=red',
    'cursor=nothing',
    `cursor=${Buffer.from('started_at x').toString('base64url')}`,
    `cursor=${next_cursor}&sort=charge`,
    `cursor=${'x'.repeat(500)}`,
    'from=soon',
    'to=',
    'limit=0',
    'limit=501',
    'agent_id=',
    'session_id=a&session_id=b',
  ])
    t.match(await runs.list(`?${query}`), { status: 400, code: 'invalid_query' }, query)
  for (const query of ['status=odd', 'sort=name'])
    t.match(await runs.list(`?${query}`), { status: 400, code: 'invalid_filter' }, query)
  for (const query of ['colour=red', 'after=-2', 'after=x', 'limit=501'])
    t.match(await runs.open(run_id, `?${query}`), { status: 400, code: 'invalid_query' }, query)
  t.match(await runs.open('unknown'), { status: 404, code: 'run_not_found' })
  const nobody = runsOf(server, '01980000-0000-7000-8000-000000000000')
  for (const answer of [await nobody.list(), await nobody.open(run_id)])
    t.match(answer, { status: 404, code: 'organization_not_found' })
  const theirs = await server.platform.organization()
  t.match(await runsOf(server, theirs.organizationId).open(run_id), { code: 'run_not_found' })
  t.strictSame(await runsOf(server, theirs.organizationId).ids(), [])
})

t.test('only owners, admins and the platform read runs, each of their organization', async (t) => {
  const app = await startApp(t)
  const here = await partner(app)
  const elsewhere = await partner(app, 'other')
  const run = 'some-run'
  const paths = [`${here.at}/runs`, `${here.at}/runs/${run}`]
  const weak = await here.key('sessions:read')
  const member = await here.member('member@example.com', 'admin:read')
  for (const path of paths) {
    t.match(await weak('GET', path), { status: 403, code: 'insufficient_scopes' })
    t.match(await elsewhere.owner('GET', path), { status: 403, code: 'organization_access_denied' })
    t.match(await app.clientOf('none')('GET', path), { status: 401 })
    const refused = await member('GET', path)
    t.equal(refused.status, 403)
  }
  t.match(await here.owner('GET', paths[0] ?? ''), { status: 200, body: { runs: [] } })
  const { body } = await app.asPlatform('POST', `${here.at}/api-keys`, {
    name: 'Reader',
    scopes: ['admin:read'],
  })
  const reader = app.clientOf(body.key)
  t.match(await reader('GET', paths[0] ?? ''), { status: 200 })
  await app.asPlatform('DELETE', `${here.at}/api-keys/${body.key_id}`)
  t.match(await reader('GET', paths[0] ?? ''), { status: 401, code: 'invalid_api_key' })
})

t.test('runs of an erased session keep their numbers, and have no texts', async (t) => {
  const app = await startApp(t)
  const { organization_id, key, provisioned } = await partner(app)
  const { user_id, path } = await provisioned('ann@example.com')
  const chat = await key('orchestrator:invoke', 'users:delegate')
  await chat('POST', '/api/external/v1/chat/completions', {
    session_id: 's-1',
    on_behalf_of: user_id,
    messages: [{ role: 'user', content: 'the secret word' }],
  })
  const runs = runsOf(app, organization_id)
  const [run_id = ''] = await runs.ids(`?user_id=${user_id}`)
  const before = (await runs.open(run_id)).body
  t.match(before, { session_id: 's-1', user_id, status: 'completed', steps: { length: 3 } })
  const erased = await (await key('sessions:delete'))('DELETE', `${path}/sessions/s-1`)
  t.equal(erased.status, 200)
  t.strictSame((await runs.open(run_id)).body, before)
  t.strictSame(await runs.ids('?session_id=s-1'), [run_id])
  t.notMatch(JSON.stringify(before), /secret/)
})
