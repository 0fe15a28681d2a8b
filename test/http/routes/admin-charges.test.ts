import fc from 'fast-check'
import t from 'tap'
import { v7 as uuid } from 'uuid'
import { user } from '../../support/client.ts'
import { eventually } from '../../support/eventually.ts'
import { held } from '../../support/held.ts'
import { startChat } from '../../support/server.ts'

type Term = { kind: string; micro_credits: number; model?: string }
type Charge = { kind: string; micro_credits: number; terms: Term[]; settled_by: object | null }
type Answer = { micro_credits: number; charges: Charge[] }

const sum = (parts: readonly { micro_credits: number }[]) =>
  parts.reduce((all, { micro_credits }) => all + micro_credits, 0)

/** Whether all of an answer adds up. */
const addsUp = ({ micro_credits, charges }: Answer): boolean =>
  sum(charges) === micro_credits &&
  charges.every((charge) => sum(charge.terms) === charge.micro_credits)

/** An answer whose charges are all settled. */
const settled = <Given extends Answer>(look: () => Promise<Given>): Promise<Given> =>
  eventually(async () => {
    const answer = await look()
    return answer.charges.every(({ settled_by }) => settled_by !== null) ? answer : undefined
  })

const prices = JSON.stringify({
  'test/dear': { prompt: 7.3, completion: 11.1 },
  'test/cheap': { prompt: 0.15, completion: 0.6 },
})

/** A chat with agents of several models, and what asks for charges. */
const charging = async (t: Parameters<typeof startChat>[0], options = {}) => {
  const chat = await startChat(t, { text: 'Yes.' }, options, { LLM_PRICES: prices })
  const { organization, server } = chat
  const at = `/organizations/${organization.organizationId}`
  const charges = (query: string) => server.platform.ask('GET', `${at}/audit/charges?${query}`)
  /** The ids of the runs of a session, the first first. */
  const runsOf = async (session: string): Promise<string[]> => {
    const path = `${at}/audit/events?limit=500&type=RunStarted&session_id=${session}`
    const { events } = await server.platform.ask('GET', path)
    return events.map(({ data }: { data: { runId: string } }) => data.runId)
  }
  const [dear, cheap] = await Promise.all(
    ['dear', 'cheap'].map((name) => organization.agent({ name, model: `test/${name}` })),
  )
  const chain = await organization.agent({
    name: 'Chain',
    agent_type: 'SEQUENTIAL_AGENT',
    sub_agents: [dear, cheap, await organization.agent({ name: 'again', model: 'test/dear' })],
  })
  return { ...chat, at, charges, runsOf, dear, cheap, chain }
}

t.test('a text turn: price, tokens, multiplication and events', async (t) => {
  const { key, provider, organization, charges, runsOf, dear } = await charging(t, {
    laterApart: true,
  })
  provider.next({ text: 'Yes.', usage: { prompt_tokens: 100, completion_tokens: 7 } })
  const before = await organization.balance()
  await key.chat({ model: dear, session_id: 's', messages: user('Hello') })
  const after = await organization.balance()
  const [run_id = ''] = await runsOf('s')
  const answer = await charges(`run_id=${run_id}`)
  t.ok(addsUp(answer))
  t.match(answer, { micro_credits: 808, credits: 0.000808, has_more: false })
  t.equal(Math.round((before.balance - after.balance) * 1e6), 808)
  t.match(answer.charges, [
    {
      kind: 'run',
      reservation_id: run_id,
      run_id,
      session_id: 's',
      payer_user_id: organization.ownerId,
      agent_id: dear,
      status: 'completed',
      code: null,
      prompt_tokens: 100,
      completion_tokens: 7,
      terms: [
        {
          kind: 'model',
          model: 'test/dear',
          price: { prompt: 7.3, completion: 11.1, list: 'configured', recorded_at: String },
          product: 807.7,
          micro_credits: 808,
          source_count: 1,
          sources: [{ type: 'RunCompleted', event_id: String, position: Number, estimated: false }],
        },
      ],
      started_by: { type: 'RunStarted' },
      stated_by: { type: 'RunCompleted' },
      settled_by: { type: 'CreditsSettled', micro_credits: 808 },
    },
  ])
})

t.test('several models: each answer is a source with its agent and event', async (t) => {
  const { key, charges, runsOf, chain, at, server } = await charging(t)
  await key.chat({ model: chain, session_id: 's', messages: user('Go') })
  const [run_id = ''] = await runsOf('s')
  const answer = await charges(`run_id=${run_id}`)
  t.ok(addsUp(answer))
  t.match(answer.charges[0].terms, [
    {
      model: 'test/dear',
      sources: [{ type: 'ModelAnswered', agent_name: 'dear' }, { agent_name: 'again' }],
    },
    { model: 'test/cheap', sources: [{ type: 'ModelAnswered', agent_name: 'cheap' }] },
  ])
  const { events } = await server.platform.ask('GET', `${at}/audit/events?type=ModelAnswered`)
  const ids = events.map(({ id }: { id: string }) => id)
  for (const { sources } of answer.charges[0].terms)
    for (const { event_id } of sources) t.ok(ids.includes(event_id))
})

t.test('generated runs: the terms add up, and the charges are what the payer lost', async (t) => {
  const { key, provider, organization, charges, runsOf, dear, cheap, chain } = await charging(t)
  const spent = async (act: () => Promise<unknown>) => {
    const before = await organization.balance()
    await act()
    const after = await organization.balance()
    return Math.round((before.balance - after.balance) * 1e6)
  }
  const reply = fc.oneof(
    fc.record({
      text: fc.constantFrom('Yes.', 'A longer answer.'),
      usage: fc.record({ prompt_tokens: fc.nat(900), completion_tokens: fc.nat(900) }),
    }),
    fc.constant({ status: 400 }),
  )
  const turn = fc.record({
    model: fc.constantFrom(dear, cheap, chain),
    replies: fc.array(reply, { minLength: 3, maxLength: 3 }),
  })
  await fc.assert(
    fc.asyncProperty(turn, async ({ model, replies }) => {
      const session_id = uuid()
      const answers = model === chain ? replies : replies.slice(0, 1)
      const failed = answers.findIndex((reply) => 'status' in reply)
      provider.next(...(failed < 0 ? answers : answers.slice(0, failed + 1)))
      const lost = await spent(() => key.chat({ model, session_id, messages: user('Go') }))
      const [run_id = ''] = await runsOf(session_id)
      const answer: Answer = await charges(`run_id=${run_id}`)
      return (
        addsUp(answer) && answer.micro_credits === lost && answer.charges[0]?.settled_by !== null
      )
    }),
    { numRuns: 15 },
  )
})

t.test('a failed call is free, and its reservation is released', async (t) => {
  const { key, provider, charges, runsOf, dear } = await charging(t)
  provider.next({ status: 400 })
  await key.chat({ model: dear, session_id: 's', messages: user('Go') })
  const [run_id = ''] = await runsOf('s')
  t.match(await charges(`run_id=${run_id}`), {
    micro_credits: 0,
    charges: [
      {
        status: 'failed',
        code: String,
        terms: [],
        stated_by: { type: 'RunFailed' },
        settled_by: { type: 'ReservationReleased', micro_credits: 0 },
      },
    ],
  })
})

t.test('a cancelled run is charged an estimate, which its end has', async (t) => {
  const { key, provider, charges, runsOf, dear } = await charging(t)
  const { reply, go } = held()
  provider.next(reply)
  const stream = await key.stream({ model: dear, session_id: 's', messages: user('Go') })
  await stream.until(({ data }) => Boolean(data.choices?.[0]?.delta.content))
  await key.cancel('s')
  go()
  const [run_id = ''] = await runsOf('s')
  const answer = await charges(`run_id=${run_id}`)
  t.ok(addsUp(answer) && answer.micro_credits > 0)
  t.match(answer.charges, [
    {
      status: 'cancelled',
      terms: [{ price: { prompt: 7.3 }, sources: [{ type: 'RunCancelled', estimated: true }] }],
    },
  ])
})

t.test('a run under way shows the charge of its answers so far', async (t) => {
  const { key, provider, charges, runsOf, chain } = await charging(t)
  const { reply, go } = held()
  provider.next({ text: 'Yes.' }, reply)
  const stream = await key.stream({ model: chain, session_id: 's', messages: user('Go') })
  await stream.until(({ data }) => (data.event ?? data.agent_event?.event) === 'agent_completed')
  const [run_id = ''] = await runsOf('s')
  const open = await eventually(async () => {
    const answer = await charges(`run_id=${run_id}`)
    return answer.charges[0].terms.length > 0 && answer
  })
  t.ok(addsUp(open))
  t.match(open.charges, [{ status: 'open', stated_by: null, settled_by: null }])
  go()
  await stream.all()
})

t.test('a run of a fork is charged for itself alone', async (t) => {
  const { key, charges, runsOf, cheap } = await charging(t)
  await key.chat({ model: cheap, session_id: 's', messages: user('One') })
  const { body } = await key.ask('POST', '/api/external/sessions/s/fork', {})
  const { session_id } = body
  await key.chat({ model: cheap, session_id, messages: user('Two') })
  const runs = await runsOf(session_id)
  t.equal(runs.length, 1)
  const answer = await charges(`run_id=${runs[0]}`)
  t.ok(addsUp(answer) && answer.micro_credits > 0)
  t.match(answer.charges, [{ session_id, status: 'completed' }])
})

t.test('content that a run requested has charges of its own, one for each attempt', async (t) => {
  const { key, provider, organization, charges, runsOf, server, at } = await charging(t)
  const studio = await organization.agent({
    name: 'Studio',
    model: 'test/cheap',
    tools: ['generate_content'],
  })
  const call = (content_type: string) => ({
    name: 'generate_content',
    arguments: { prompt: 'A fox', content_type },
  })
  provider.next({ calls: [call('image'), call('video')] }, { text: 'Soon.' })
  await key.chat({ model: studio, session_id: 's', messages: user('Draw') })
  const [run_id = ''] = await runsOf('s')
  const answer = await settled(() => charges(`run_id=${run_id}`))
  t.ok(addsUp(answer))
  const [run, ...items] = answer.charges
  t.match(run, { kind: 'run', terms: [{ kind: 'model', sources: { length: 2 } }] })
  t.match(
    items.find(({ status }: { status: string }) => status === 'completed'),
    {
      kind: 'generation',
      run_id,
      attempt: 0,
      micro_credits: 40_000,
      terms: [
        {
          kind: 'generation',
          content_type: 'image',
          sources: [{ type: 'ContentRequested' }, { type: 'ContentCompleted' }],
        },
      ],
      settled_by: { type: 'CreditsSettled', micro_credits: 40_000 },
    },
  )
  const video = items.find(({ status }: { status: string }) => status === 'failed')
  t.match(video, { micro_credits: 0, terms: [], settled_by: { type: 'ReservationReleased' } })
  const { content_id } = video
  await key.ask('POST', `/api/external/content/${content_id}/retry`)
  const retried = await settled(() => charges(`content_id=${content_id}`))
  t.match(retried.charges, [
    { attempt: 0, reservation_id: `content:${content_id}:0` },
    {
      attempt: 1,
      reservation_id: `content:${content_id}:1`,
      started_by: { type: 'ContentRetryQueued' },
    },
  ])
  t.match(await server.asPlatform('GET', `/api/admin${at}/audit/charges?content_id=none`), {
    status: 404,
    code: 'content_not_found',
  })
})

t.test('the charges of an erased session are still explained', async (t) => {
  const { provider, organization, charges, runsOf } = await charging(t, { laterApart: true })
  const studio = await organization.agent({
    name: 'Studio',
    model: 'test/cheap',
    tools: ['generate_content'],
  })
  const draw = { name: 'generate_content', arguments: { prompt: 'A fox', content_type: 'image' } }
  provider.next({ calls: [draw] }, { text: 'Soon.' })
  const scopes = ['users:provision', 'users:delegate', 'sessions:delete', 'orchestrator:invoke']
  const partner = await organization.key({ scopes })
  const users = '/api/external/management/users'
  const { organizationId: organization_id } = organization
  const ann = { email: 'ann@example.com', organization_id }
  const { user_id: on_behalf_of } = (await partner.ask('POST', users, ann)).body
  await partner.chat({ model: studio, session_id: 's', messages: user('Draw'), on_behalf_of })
  const [run_id = ''] = await runsOf('s')
  const before = await settled(() => charges(`run_id=${run_id}`))
  t.equal(before.charges.length, 2)
  t.match(await partner.ask('DELETE', `${users}/${on_behalf_of}/sessions/s`), { status: 200 })
  t.strictSame(await charges(`run_id=${run_id}`), before)
})

t.test('charges belong to one organization, and to its managers', async (t) => {
  const { key, organization, runsOf, server, dear, at } = await charging(t)
  await key.chat({ model: dear, session_id: 's', messages: user('Hello') })
  const [run_id = ''] = await runsOf('s')
  const other = await server.platform.organization()
  const stranger = await other.key({ type: 'user', user_id: other.ownerId })
  const path = (of: string, query: string) =>
    `/api/admin/organizations/${of}/audit/charges?${query}`
  const own = await organization.key({ type: 'user', user_id: organization.ownerId })
  t.match(await own.ask('GET', path(organization.organizationId, `run_id=${run_id}`)), {
    status: 200,
  })
  t.match(await stranger.ask('GET', path(organization.organizationId, `run_id=${run_id}`)), {
    status: 403,
    code: 'organization_access_denied',
  })
  t.match(await stranger.ask('GET', path(other.organizationId, `run_id=${run_id}`)), {
    status: 404,
    code: 'run_not_found',
  })
  const memberId = await organization.member()
  const member = await organization.key({ type: 'user', user_id: memberId })
  t.match(await member.ask('GET', path(organization.organizationId, `run_id=${run_id}`)), {
    status: 403,
  })
  const weak = await organization.key({ scopes: ['orchestrator:invoke'] })
  t.match(await weak.ask('GET', path(organization.organizationId, `run_id=${run_id}`)), {
    status: 403,
    code: 'insufficient_scopes',
  })
  for (const query of ['', `run_id=${run_id}&content_id=${run_id}`, `run_id=${run_id}&run=1`])
    t.match(await server.asPlatform('GET', `/api/admin${at}/audit/charges?${query}`), {
      status: 400,
      code: 'invalid_query',
    })
  for (const id of ['none', uuid(), 'x'.repeat(500)])
    t.match(await server.asPlatform('GET', `/api/admin${at}/audit/charges?run_id=${id}`), {
      status: 404,
      code: 'run_not_found',
    })
})
