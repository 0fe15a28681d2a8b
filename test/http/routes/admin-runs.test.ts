import t from 'tap'
import { isToken, user } from '../../support/client.ts'
import { held } from '../../support/held.ts'
import { superAdminKey } from '../../support/platform.ts'
import { startChat } from '../../support/server.ts'

type Chat = Awaited<ReturnType<typeof startChat>>

const runOf = ({ body }: { body: { id: string } }) => body.id.replace('chatcmpl-', '')

const replay = ({ server, organization }: Chat, run: string, body?: object, key = superAdminKey) =>
  server
    .as(key)
    .ask('POST', `/api/admin/organizations/${organization.organizationId}/runs/${run}/replay`, body)

const eventCount = async ({ server, organization }: Chat): Promise<number> =>
  (await server.platform.events(organization.organizationId)).length

t.test('a run that would go as it went', async (t) => {
  const chat = await startChat(t, { text: 'Answer.' })
  const { key, provider, organization } = chat
  await key.chat({ messages: user('One'), session_id: 's' })
  const run = runOf(await key.chat({ messages: user('Two'), session_id: 's' }))
  const [calls, events] = [provider.requests.length, await eventCount(chat)]
  const balance = await organization.balance()
  const { status, body } = await replay(chat, run)
  t.equal(status, 200)
  t.strictSame(body, {
    run_id: run,
    session_id: 's',
    model: 'recorded',
    steps: [],
    same: 1,
    answer: { changed: false, before: 'Answer.', now: 'Answer.' },
    error: null,
  })
  t.equal(provider.requests.length, calls, 'no model was asked')
  t.equal(await eventCount(chat), events, 'nothing was stored')
  t.strictSame(await organization.balance(), balance, 'or charged')
})

t.test('a replay with another instruction shows the changed steps', async (t) => {
  const chat = await startChat(t, { text: 'Answer.' })
  const { key, provider, server, organization } = chat
  const agent_id = await chat.organization.orchestrator()
  const at = `/organizations/${organization.organizationId}/agents/${agent_id}`
  await server.platform.ask('PATCH', at, { instruction: 'Be short.' })
  const run = runOf(await key.chat({ messages: user('One') }))
  const calls = provider.requests.length
  const tried = await replay(chat, run, { instructions: { [agent_id]: 'Be kind.' } })
  t.match(tried.body, {
    same: 0,
    steps: [
      {
        change: 'changed',
        changed: ['system'],
        before: { asked: { system: /^Be short\./, answer: 'Answer.', answered: true } },
        now: { asked: { system: /^Be kind\./, answer: 'Answer.', answered: true } },
      },
    ],
    answer: { changed: false },
  })
  t.match((await replay(chat, run)).body, { steps: [] }, 'it was only tried')

  await server.platform.ask('PATCH', at, { instruction: 'Be kind.' })
  t.match((await replay(chat, run)).body, { steps: [{ changed: ['system'] }] }, 'it was changed')
  t.equal(provider.requests.length, calls)

  provider.next({ text: 'Kinder.' })
  const live = await replay(chat, run, { model: 'live' })
  t.equal(provider.requests.length, calls + 1)
  t.match(provider.requests.at(-1)?.body, { model: 'model', messages: [{ content: /Be kind/ }] })
  t.match(live.body, {
    model: 'live',
    steps: [{ changed: ['system', 'answer'], now: { asked: { answer: 'Kinder.' } } }],
    answer: { changed: true, before: 'Answer.', now: 'Kinder.' },
  })
  t.equal((await key.messages('x')).status, 404)
})

t.test('tools give what is recorded; none is called', async (t) => {
  const chat = await startChat(t, { text: 'Noted.' })
  const { key, provider, server, organization } = chat
  const agent_id = await chat.organization.orchestrator()
  const at = `/organizations/${organization.organizationId}/agents/${agent_id}`
  await server.platform.ask('PATCH', at, { tools: ['remember', 'recall'] })
  const remember = { name: 'remember', arguments: { text: 'herons fish' } }
  provider.next({ calls: [remember] })
  const run = runOf(await key.chat({ messages: user('remember that herons fish') }))
  const events = await eventCount(chat)
  t.match((await replay(chat, run)).body, { same: 3, steps: [] })

  provider.next({ calls: [remember] }, { text: 'Kept.' })
  t.match((await replay(chat, run, { model: 'live' })).body, {
    same: 2,
    steps: [{ changed: ['answer'] }],
    answer: { before: 'Noted.', now: 'Kept.' },
  })
  t.match(
    provider.requests.at(-1)?.body.messages.at(-1),
    { role: 'tool', content: /remember/i },
    'the recorded result',
  )
  const other = { name: 'remember', arguments: { text: 'storks fish' } }
  provider.next({ calls: [other] }, { text: 'Oh.' })
  const differs = await replay(chat, run, { model: 'live' })
  t.match(differs.body, {
    steps: [
      { changed: ['calls'] },
      { changed: ['arguments', 'result'], now: { called: { result: /no such call is recorded/ } } },
      { changed: ['messages', 'answer'] },
    ],
  })

  await server.platform.ask('PATCH', at, { tools: [] })
  t.match((await replay(chat, run)).body, {
    steps: [
      { changed: ['tools'], before: { asked: { tools: ['remember', 'recall'] } } },
      { changed: ['result'], now: { called: { result: /there is no tool remember/ } } },
      { changed: ['tools', 'messages'] },
    ],
  })
  t.equal(await eventCount(chat), events + 1, 'nothing was stored but the change of the agent')
})

t.test('agents that were added or are gone', async (t) => {
  const chat = await startChat(t, { text: 'Answer.' })
  const { key, organization, server } = chat
  const agent = await organization.agent({ name: 'Poet', instruction: 'Verse.' })
  const { body } = await key.ask('POST', `/api/external/agents/${agent}/completions`, {
    message: 'Spring?',
  })
  const run = body.id.replace('agentcmpl-', '')
  const at = `/organizations/${organization.organizationId}/agents/${agent}`
  const second = await organization.agent({ name: 'Critic', instruction: 'Judge.' })
  await server.platform.ask('PATCH', at, { agent_type: 'SEQUENTIAL_AGENT', sub_agents: [second] })
  const changed = await replay(chat, run)
  t.match(changed.body.steps.map((step: { change: string }) => step.change).toSorted(), [
    'gone',
    'new',
  ])
  t.match(changed.body, { answer: { changed: true, before: 'Answer.', now: '' } })
  await server.platform.ask('DELETE', at)
  t.match((await replay(chat, run)).body, { error: 'agent_not_found', steps: [{ change: 'gone' }] })
})

t.test('a replay of an unknown, unfinished or foreign run is refused', async (t) => {
  const chat = await startChat(t, { text: 'Answer.' })
  const { key, server, organization } = chat
  const run = runOf(await key.chat({ messages: user('One'), session_id: 's' }))
  t.match(await replay(chat, 'unknown'), { status: 404, code: 'run_not_found' })
  const none = { instructions: { [crypto.randomUUID()]: 'x' } }
  t.match(await replay(chat, run, none), { status: 404, code: 'agent_not_found' })
  t.match(await replay(chat, run, { model: 'other' }), { status: 400 })
  const turn = held()
  chat.provider.next(turn.reply)
  const stream = await key.stream({ messages: user('Two'), session_id: 's' })
  const { id } = (await stream.until(isToken)).data
  const running = await replay(chat, id.replace('chatcmpl-', ''))
  t.match(running, { status: 409, code: 'run_not_replayable' }, 'one that is not over')
  turn.go()
  await stream.all()
  const elsewhere = { ...chat, organization: await server.platform.organization() }
  t.match(await replay(elsewhere, run), { status: 404, code: 'run_not_found' })
  const reader = await organization.key({ scopes: ['admin:read'] })
  t.equal((await replay(chat, run, {}, reader.key)).status, 200)
  t.match(await replay(chat, run, { model: 'live' }, reader.key), {
    status: 403,
    code: 'platform_only',
  })
  t.match(await replay(elsewhere, run, {}, reader.key), { code: 'organization_access_denied' })
  t.match(await replay(chat, run, {}, key.key), { status: 403, code: 'insufficient_scopes' })
  const member = await organization.member()
  const weak = await organization.key({ scopes: ['admin:read'], type: 'user', user_id: member })
  t.equal((await replay(chat, run, {}, weak.key)).status, 403)
})
