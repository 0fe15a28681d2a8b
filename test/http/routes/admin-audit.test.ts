import t from 'tap'
import { withOrganization } from '../../support/partner.ts'
import { superAdminKey } from '../../support/platform.ts'
import { startApp } from '../../support/server.ts'

t.test('managers see the events of their organization, and of no other', async (t) => {
  const all = await startApp(t, {}, { laterApart: true })
  const { asPlatform: platform, clientOf: as } = all
  const { at, owner, organization_id, owner_user_id } = await withOrganization(all)
  const events = `${at}/audit/events`

  const seen = await owner('GET', events)
  t.match(seen, { status: 200, body: { has_more: false } })
  const types = seen.body.events.map(({ type }: { type: string }) => type)
  for (const type of ['UserRegistered', 'OrganizationCreated', 'AgentCreated', 'ApiKeyCreated'])
    t.ok(types.includes(type), type)
  for (const { metadata } of seen.body.events)
    t.match(metadata, { organization_id, schema_version: Number, actor: {}, request_id: String })
  const registered = await owner('GET', `${events}?type=UserRegistered`)
  t.match(registered.body.events, [
    {
      stream: `user-${owner_user_id}`,
      revision: 0,
      data: { email: 'owner@example.com', name: 'Olga' },
    },
  ])
  const stream = `organization-${organization_id}_${organization_id}`
  t.match((await owner('GET', `${events}?stream=${stream}&limit=1`)).body, {
    events: [{ stream, type: 'OrganizationCreated' }],
  })

  const other = await platform('POST', '/api/admin/organizations', {
    name: 'Other',
    owner: { email: 'other@example.com' },
  })
  const theirs = `/api/admin/organizations/${other.body.organization_id}/audit/events`
  t.match(await owner('GET', theirs), { status: 403, code: 'organization_access_denied' })
  t.ok((await platform('GET', theirs)).body.events.length > 0)
  const now = (await owner('GET', events)).body.events.filter(
    ({ type }: { type: string }) => type !== 'AccessRefused',
  )
  t.strictSame(now, seen.body.events, 'as it was, but for the refusal')
  const others = await owner('GET', `${events}?stream=user-${other.body.owner_user_id}`)
  t.strictSame(others.body.events, [])

  const limited = await platform('POST', `${at}/api-keys`, { name: 'No admin' })
  t.match(await as(limited.body.key)('GET', events), { code: 'insufficient_scopes' })
  t.match(await owner('GET', `${events}?limit=501`), { status: 400, code: 'invalid_query' })
  t.match(await owner('GET', `${events}?after=x`), { status: 400, code: 'invalid_query' })
  t.match(await owner('GET', `${events}?limit=1&requestid=a`), {
    status: 400,
    code: 'invalid_query',
    body: { detail: { requestid: [/requestid/] } },
  })
  const unknown = at.replace(/.$/, at.endsWith('0') ? '1' : '0')
  t.match(await platform('GET', `${unknown}/audit/events`), { code: 'organization_not_found' })
})

t.test('events are listed the newest first, page by page and in lines', async (t) => {
  const all = await startApp(t, {}, { laterApart: true })
  const { at, owner } = await withOrganization(all)
  const list = async (query: string) => (await owner('GET', `${at}/audit/events?${query}`)).body
  const oldestFirst = (await list('limit=500')).events
  const reversed = oldestFirst.toReversed()
  t.ok(oldestFirst.length > 4)
  t.strictSame((await list('limit=500&order=desc')).events, reversed)
  const pages = []
  let next = ''
  for (;;) {
    const page = await list(`limit=2&order=desc${next}`)
    pages.push(...page.events)
    next = `&after=${page.next_after}`
    if (!page.has_more) break
  }
  t.strictSame(pages, reversed)
  t.strictSame(await list('order=desc&after=-1'), { events: [], next_after: -1, has_more: false })
  const { body: lines } = await all.http.inject({
    url: `${at}/audit/events?order=desc&limit=3`,
    headers: { 'x-api-key': superAdminKey, accept: 'application/x-ndjson' },
  })
  t.strictSame(
    lines
      .trim()
      .split('\n')
      .map((line: string) => JSON.parse(line)),
    reversed.slice(0, 3),
  )
  t.match(await owner('GET', `${at}/audit/events?order=newest`), {
    status: 400,
    code: 'invalid_filter',
  })
})

t.test('events are found by request, session, model and agent', async (t) => {
  const all = await startApp(t, {}, { laterApart: true })
  const { at, owner, organization_id, created } = await withOrganization(all)
  const { key } = (await all.asPlatform('POST', `${at}/api-keys`, { name: 'Chat' })).body
  for (const session_id of ['s-1', 's-2'])
    await all.clientOf(key, { 'x-request-id': `asked-${session_id}` })(
      'POST',
      '/api/external/v1/chat/completions',
      { session_id, messages: [{ role: 'user', content: 'Hello' }] },
    )
  const events = (await owner('GET', `${at}/audit/events?limit=500`)).body.events
  const eventsFor = async (query: string) =>
    (await owner('GET', `${at}/audit/events?limit=500&${query}`)).body.events
  type Event = { stream: string; type: string; data: Record<string, unknown>; metadata: object }
  const those = (wanted: (event: Event) => boolean) => events.filter(wanted)

  const stream = `session-${organization_id}_s-1`
  const ofSession = await eventsFor('session_id=s-1')
  t.ok(ofSession.length > 4)
  t.strictSame(
    ofSession,
    those((event) => event.stream === stream),
  )
  const ofRequest = await eventsFor('request_id=asked-s-2')
  t.ok(ofRequest.length > 4)
  for (const { metadata } of ofRequest) t.equal(metadata.request_id, 'asked-s-2')
  const completed = ofSession.find(({ type }: Event) => type === 'RunCompleted')
  const { model } = completed.data
  const ofModel = await eventsFor(`model=${encodeURIComponent(model)}&type=RunCompleted`)
  t.equal(ofModel.length, 2)
  const { orchestrator_agent_id } = created.body
  const ofAgent = await eventsFor(`agent_id=${orchestrator_agent_id}`)
  t.strictSame(
    ofAgent,
    those(({ data }) => data.agentId === orchestrator_agent_id),
  )
  t.ok(ofAgent.some(({ type }: Event) => type === 'AgentCreated'))
  t.ok(ofAgent.some(({ type }: Event) => type === 'RunStarted'))
  const { runId } = completed.data
  const ofRun = await eventsFor(`run_id=${runId}`)
  t.strictSame(
    ofRun,
    those(({ data }) => data.runId === runId),
  )
  for (const type of ['RunStarted', 'CreditsReserved', 'RunCompleted', 'CreditsSettled'])
    t.ok(
      ofRun.some((event: Event) => event.type === type),
      type,
    )
  t.strictSame(await eventsFor(`run_id=${runId}&order=desc`), ofRun.toReversed())
  t.strictSame(await eventsFor('run_id=none'), [])
  t.strictSame(await eventsFor('session_id=none'), [])
  t.match(await owner('GET', `${at}/audit/events?session_id=`), { code: 'invalid_query' })
})

t.test('a page goes on where the last one ended', async (t) => {
  const all = await startApp(t, {}, { laterApart: true })
  const { at, owner } = await withOrganization(all)
  const events = (await owner('GET', `${at}/audit/events`)).body.events
  const seen: unknown[] = []
  for (let after = -1, more = true; more && seen.length < events.length; ) {
    const { body } = await owner('GET', `${at}/audit/events?limit=2&after=${after}`)
    seen.push(...body.events)
    after = body.next_after
    more = body.has_more
  }
  t.strictSame(seen, events)
})

t.test('a whole history comes as lines, filtered like pages', async (t) => {
  const all = await startApp(t, {}, { laterApart: true })
  const { at, owner, owner_user_id } = await withOrganization(all)
  const events = `${at}/audit/events`
  const { http } = all
  const lines = async (query: string) => {
    const reply = await http.inject({
      url: `${events}?${query}`,
      headers: { 'x-api-key': superAdminKey, accept: 'application/x-ndjson' },
    })
    t.match(reply.headers['content-type'], /^application\/x-ndjson/)
    return reply.body
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  }
  for (const query of [
    'limit=500',
    'limit=3',
    'type=AgentCreated',
    `actor=${owner_user_id}`,
    'from=2020-01-01&to=2020-01-02T00:00:00%2B01:00',
    `from=${new Date(Date.now() - 60_000).toISOString()}`,
  ])
    t.strictSame(await lines(query), (await owner('GET', `${events}?${query}`)).body.events, query)
  t.strictSame(await lines('limit=100000'), await lines(''))
  t.match(await owner('GET', `${events}?from=yesterday`), { status: 400, code: 'invalid_query' })
})
