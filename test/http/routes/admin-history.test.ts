import t from 'tap'
import { withOrganization } from '../../support/partner.ts'
import { superAdminKey } from '../../support/platform.ts'
import { startApp } from '../../support/server.ts'

t.test('a read model is returned as of a position and as of a time', async (t) => {
  const all = await startApp(t, {}, { laterApart: true })
  const { asPlatform: platform, clientOf: as, http } = all
  const { at, owner, owner_user_id } = await withOrganization(all)
  const state = `${at}/audit/state`
  const agents = async (as_of = '') => {
    const { body } = await owner('GET', `${state}?view=agents${as_of}`)
    return body.documents.map(({ document }: { document: { name: string } }) => document.name)
  }

  const { body } = await owner('POST', `${at}/agents`, { name: 'First' })
  const before = (await owner('GET', `${at}/audit/events?type=AgentCreated`)).body.events.at(-1)
  await owner('PATCH', `${at}/agents/${body.agent_id}`, { name: 'Second' })
  await owner('POST', `${at}/agents`, { name: 'Third' })
  t.strictSame(await agents(), ['Orchestrator', 'Second', 'Third'])
  t.strictSame(await agents(`&as_of=${before.position}`), ['Orchestrator', 'First'])
  t.strictSame(await agents(`&as_of=${before.position - 1}`), ['Orchestrator'])
  t.strictSame(await agents('&as_of=-1'), [])
  t.strictSame(await agents('&as_of=2020-01-01'), [])
  t.strictSame(await agents('&as_of=2100-01-01T00:00:00Z'), ['Orchestrator', 'Second', 'Third'])
  t.strictSame(
    await agents(`&as_of=${new Date(Date.parse(before.metadata.at) - 1).toISOString()}`),
    ['Orchestrator'],
  )

  const first = (await owner('GET', `${state}?view=agents&limit=2`)).body
  t.match(first, { total: 3, documents: { length: 2 }, next_after: first.documents[1].id })
  const query = `view=agents&limit=2&as_of=${first.position}&after=${first.next_after}`
  const rest = (await owner('GET', `${state}?${query}`)).body
  t.match(rest, { total: 3, documents: { length: 1 }, next_after: null })
  const lines = await http.inject({
    url: `${state}?view=agents`,
    headers: { 'x-api-key': superAdminKey, accept: 'application/x-ndjson' },
  })
  const documents = lines.body
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.strictSame(documents, [...first.documents, ...rest.documents])
  t.equal(Number(lines.headers['x-position']), first.position)

  const changes = async (query: string) =>
    (await owner('GET', `${at}/audit/changes?view=agents${query}`)).body
  const { agent_id } = body
  const between = `&from=${before.position}&to=2100-01-01`
  t.match(await changes(between), {
    view: 'agents',
    from: before.position,
    to: first.position,
    total: 2,
    changes: [
      { id: agent_id, change: 'changed', before: { name: 'First' }, after: { name: 'Second' } },
      { change: 'new', before: null, after: { name: 'Third' } },
    ],
    next_after: null,
  })
  await owner('DELETE', `${at}/agents/${agent_id}`)
  t.match((await changes(between.replace(/&to=.*/, ''))).changes, [
    { id: agent_id, change: 'gone', before: { name: 'First' }, after: null },
    { change: 'new' },
  ])
  t.match(await changes(`&to=${before.position}`), { from: -1, total: 2 })
  const page = await changes(`${between}&limit=1`)
  t.match(page, { total: 2, changes: { length: 1 }, next_after: agent_id })
  t.match(await changes(`${between}&after=${page.next_after}`), {
    changes: [{ change: 'new' }],
    next_after: null,
  })
  t.strictSame((await changes('&from=2100-01-01')).changes, [])
  for (const [query, code] of [
    [`&from=${before.position}&to=0`, 'invalid_query'],
    ['&from=soon', 'invalid_query'],
  ])
    t.match(await owner('GET', `${at}/audit/changes?view=agents${query}`), { status: 400, code })
  t.match(await owner('GET', `${at}/audit/changes?view=users`), { code: 'read_model_not_found' })

  const keys = await owner('GET', `${state}?view=api_keys`)
  t.notMatch(JSON.stringify(keys.body), /"hash"/)
  t.match(await owner('GET', `${state}?view=users`), { status: 404, code: 'read_model_not_found' })
  t.match(await owner('GET', `${state}?view=members`), {
    body: { documents: [{ document: { user_id: owner_user_id, role: 'OWNER' } }] },
  })
  t.match(await owner('GET', `${state}?view=agents&as_of=soon`), { code: 'invalid_query' })

  const other = await platform('POST', '/api/admin/organizations', {
    name: 'Other',
    owner: { email: 'other@example.com' },
  })
  const theirs = `/api/admin/organizations/${other.body.organization_id}`
  for (const path of ['audit/state?view=agents', 'usage'])
    t.match(await owner('GET', `${theirs}/${path}`), { code: 'organization_access_denied' })
  t.equal((await platform('GET', `${theirs}/audit/state?view=agents`)).body.total, 1)
  const weak = await platform('POST', `${at}/api-keys`, { name: 'No admin' })
  t.match(await as(weak.body.key)('GET', `${state}?view=agents`), {
    code: 'insufficient_scopes',
  })
})

t.test('usage is reported by day, agent, user, key and model', async (t) => {
  const all = await startApp(t, {}, { laterApart: true })
  const { asPlatform: platform, clientOf: as } = all
  const { at, owner, owner_user_id } = await withOrganization(all)
  const key = (await platform('POST', `${at}/api-keys`, { name: 'Chat' })).body
  const chat = as(key.key)
  for (const content of ['Hello', 'Again'])
    await chat('POST', '/api/external/v1/chat/completions', {
      messages: [{ role: 'user', content }],
    })
  const { body } = await owner('GET', `${at}/usage?by=agent_id,user_id,key_id`)
  const { orchestrator_agent_id } = (await platform('GET', at)).body
  t.match(body, {
    total: { runs: 2, completed: 2, failed: 0, duration_p50_ms: Number },
    usage: [
      { agent_id: orchestrator_agent_id, user_id: owner_user_id, key_id: key.key_id, runs: 2 },
    ],
  })
  t.ok(body.total.prompt_tokens > 0 && body.total.duration_p95_ms >= body.total.duration_p50_ms)
  const today = new Date().toISOString().slice(0, 10)
  t.match((await owner('GET', `${at}/usage`)).body.usage, [{ day: String, runs: Number }])
  t.equal((await owner('GET', `${at}/usage?to=2020-01-01`)).body.total.runs, 0)
  t.ok((await owner('GET', `${at}/usage?from=2020-01-01&to=${today}`)).body.total.runs >= 0)
  t.match((await owner('GET', `${at}/usage?by=model`)).body.usage, [
    { model: 'offline/extractive', runs: 2, completed: 2, credits: Number },
  ])
  t.match(await owner('GET', `${at}/usage?by=colour`), { status: 400 })
})
