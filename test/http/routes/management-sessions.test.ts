import t from 'tap'
import { isToken, user } from '../../support/client.ts'
import { held } from '../../support/held.ts'
import { partner } from '../../support/partner.ts'
import { startApp, startChat } from '../../support/server.ts'

const users = '/api/external/management/users'
const secret = 'My secret is heron'

t.test('deleting the conversations of a provisioned user', async (t) => {
  const all = await startApp(t)
  const { at, owner, owner_user_id, provisioned, key } = await partner(all)
  const { user_id, path } = await provisioned('ann@example.com')
  const bo = await provisioned('bo@example.com')
  const ask = await key(
    'orchestrator:invoke',
    'sessions:read',
    'sessions:messages',
    'users:delegate',
  )
  const erase = await key('sessions:delete')
  const chat = (session_id: string, user = user_id, content = secret) =>
    ask('POST', '/api/external/v1/chat/completions', {
      session_id,
      on_behalf_of: user,
      messages: [{ role: 'user', content }],
    })
  const sessions = async (user = user_id) =>
    (await ask('GET', `/api/external/sessions?on_behalf_of=${user}`)).body.total

  for (const id of ['one', 'two', 'three']) t.equal((await chat(id)).status, 200)
  t.equal((await chat('bo-s', bo.user_id)).status, 200)
  t.equal(await sessions(), 3)

  t.match(await erase('DELETE', `${bo.path}/sessions/one`), {
    status: 404,
    code: 'session_not_found',
    body: { detail: String },
  })
  t.match(await erase('DELETE', `${path}/sessions/one`), { status: 200, body: { deleted: 1 } })
  t.equal(await sessions(), 2, 'at once')
  t.match(await erase('DELETE', `${path}/sessions/one`), { status: 404, code: 'session_not_found' })
  for (const read of ['messages', 'status', 'stream'])
    t.match(await ask('GET', `/api/external/sessions/one/${read}?on_behalf_of=${user_id}`), {
      status: 404,
      code: 'session_not_found',
    })
  t.match(
    await chat('one'),
    { status: 404, code: 'session_not_found' },
    'its id is not taken again',
  )

  t.test('the audit log has who, whose and how, and no text', async (t) => {
    const { body } = await owner('GET', `${at}/audit/events?type=SessionErased`)
    t.match(body.events, [
      { data: { deletedBy: owner_user_id, sessionOwner: user_id, delegated: true } },
    ])
    const stream = body.events[0].stream
    const all = (await owner('GET', `${at}/audit/events?stream=${stream}`)).body.events
    t.notMatch(JSON.stringify(all), secret)
    const sent = all.find(({ type }: { type: string }) => type === 'UserMessageSent')
    t.strictSame(sent.data.content, { erased: true })
  })

  t.match(await erase('DELETE', `${path}/sessions`), { status: 200, body: { deleted: 2 } })
  t.equal(await sessions(), 0)
  t.match(await erase('DELETE', `${path}/sessions`), { status: 200, body: { deleted: 0 } })
  t.equal(await sessions(bo.user_id), 1)
  t.equal((await chat('four')).status, 200, 'and the user goes on')
  await chat('five')
  const both = await Promise.all([1, 2].map(() => erase('DELETE', `${path}/sessions`)))
  for (const { status } of both) t.equal(status, 200)
  t.equal(both[0]?.body.deleted + both[1]?.body.deleted, 2, 'of two at once, each counts its own')
  const { events } = (await owner('GET', `${at}/audit/events?type=SessionErased`)).body
  t.equal(events.length, 5, 'one entry for each')

  const invited = await owner('POST', `${at}/members`, { email: 'invited@example.com' })
  const of = (id: string) => `/api/external/management/users/${id}/sessions`
  t.match(await erase('DELETE', of(invited.body.user_id)), { status: 403, code: 'not_provisioned' })
  t.match(await erase('DELETE', of('nobody')), { status: 404, code: 'user_not_found' })
  t.match(await owner('DELETE', of(user_id)), { status: 403, code: 'insufficient_scopes' })
  t.match(await erase('DELETE', `${path}/sessions/a%20b`), {
    status: 404,
    code: 'session_not_found',
  })
})

t.test('a turn that runs is cancelled first', async (t) => {
  const { provider, server, organization } = await startChat(t)
  const scopes = [
    'orchestrator:invoke',
    'orchestrator:stream',
    'sessions:messages',
    'sessions:delete',
    'users:provision',
    'users:delegate',
  ]
  const key = await organization.key({ scopes })
  const { organizationId: organization_id } = organization
  const created = await key.ask('POST', users, { email: 'cy@example.com', organization_id })
  const { user_id: on_behalf_of } = created.body
  provider.next(held().reply)
  const session_id = 'running'
  const stream = await key.stream({ session_id, on_behalf_of, messages: user('Hello') })
  await stream.until(isToken)
  t.match(await key.ask('DELETE', `${users}/${on_behalf_of}/sessions`), {
    status: 200,
    body: { deleted: 1 },
  })
  t.equal((await stream.all()).at(-1)?.data, '[DONE]')
  const attached = await server.as(key.key).attach(session_id, {}, `?on_behalf_of=${on_behalf_of}`)
  t.equal(attached.status, 404)
  const { balance, effective } = await organization.balance()
  t.equal(balance, effective, 'nothing is held any more')
})

t.test('an answer that was erased is not given again', async (t) => {
  const { provider, server, organization } = await startChat(t)
  const { ask, key, chat, stream } = await organization.key({
    scopes: [
      'orchestrator:invoke',
      'orchestrator:stream',
      'agents:invoke',
      'sessions:delete',
      'users:provision',
      'users:delegate',
    ],
  })
  const { organizationId: organization_id } = organization
  const agent = `/api/external/agents/${await organization.agent({ name: 'Solo' })}/completions`
  const created = await ask('POST', users, { email: 'di@example.com', organization_id })
  const { user_id: on_behalf_of } = created.body
  const again = (name: string) => ({ headers: { 'idempotency-key': name } })
  const request = { on_behalf_of, messages: user('Hello') }
  const streamed = { stream: true, ...request }
  const single = { on_behalf_of, message: 'Hello' }
  const repeat = async (by = server.as(key)) => [
    await by.chat(request, again('whole')),
    await by.chat(streamed, again('streamed')),
    await by.chat({ ...streamed, session_id: 'running' }, again('running')),
    await by.ask('POST', agent, single, again('single')),
    await by.ask('POST', agent, { ...single, stream: true }, again('single-streamed')),
  ]
  provider.next({ text: 'Hi' }, { text: 'Hi' }, held().reply)
  await chat(request, again('whole'))
  await (await stream(streamed, again('streamed'))).all()
  const running = await stream({ ...streamed, session_id: 'running' }, again('running'))
  await running.until(isToken)
  await ask('POST', agent, single, again('single'))
  await ask('POST', agent, { ...single, stream: true }, again('single-streamed'))
  t.match(await ask('DELETE', `${users}/${on_behalf_of}/sessions`), { body: { deleted: 5 } })
  for (const reply of await repeat()) t.match(reply, { status: 404, code: 'session_not_found' })
  await server.restart()
  for (const reply of await repeat()) t.match(reply, { status: 404, code: 'session_not_found' })
})

t.test('an organization erases the conversations of a former member', async (t) => {
  const all = await startApp(t)
  const first = await partner(all)
  const other = await partner(all, 'other')
  const scopes = ['orchestrator:invoke', 'users:delegate', 'users:credentials', 'sessions:delete']
  const ask = await first.key(...scopes)
  const elsewhere = await other.key(...scopes)
  const { user_id, path } = await first.provisioned('ann@example.com')
  t.equal((await other.provisioned('ann@example.com')).user_id, user_id)
  const say = (by: typeof ask, session_id: string) =>
    by('POST', '/api/external/v1/chat/completions', {
      session_id,
      on_behalf_of: user_id,
      messages: [{ role: 'user', content: secret }],
    })
  for (const id of ['one', 'two']) t.equal((await say(ask, id)).status, 200)
  t.equal((await say(elsewhere, 'theirs')).status, 200)
  await ask('PUT', `${path}/credentials/SHOP`, { value: 'never-shown' })
  await elsewhere('PUT', `${path}/credentials/SHOP`, { value: 'never-shown' })
  t.equal((await first.owner('DELETE', `${first.at}/members/${user_id}`)).status, 204)

  t.match(await say(ask, 'three'), { status: 404, code: 'user_not_found' })
  t.match(await ask('DELETE', `${path}/sessions/theirs`), { code: 'session_not_found' })
  t.match(await ask('DELETE', `${path}/sessions/one`), { status: 200, body: { deleted: 1 } })
  t.match(await ask('DELETE', `${path}/sessions`), { status: 200, body: { deleted: 1 } })
  const state = `${first.at}/audit/state?view=messages`
  t.notMatch(JSON.stringify((await first.owner('GET', state)).body), secret)
  t.match(await first.owner('GET', state), { body: { total: 0 } })

  t.match(await ask('GET', `${path}/credentials`), { body: { total: 1 } })
  t.match(await ask('DELETE', `${path}/credentials/SHOP`), { status: 204 })
  for (const refused of [
    await ask('PUT', `${path}/credentials/SHOP`, { value: 'more' }),
    await ask('GET', `${path}/connect-status?agent_id=a`),
  ])
    t.match(refused, { status: 404, code: 'user_not_found' }, 'nothing more is stored of her')

  t.match(await elsewhere('GET', `${path}/credentials`), { body: { total: 1 } })
  t.match(await elsewhere('DELETE', `${path}/sessions`), { status: 200, body: { deleted: 1 } })
})

t.test(
  'conversations of a member who was not provisioned are erased after her removal',
  async (t) => {
    const all = await startApp(t)
    const { at, owner, key, member } = await partner(all)
    const erase = await key('sessions:delete', 'orchestrator:invoke', 'users:delegate')
    await member('mo@example.com')
    const { body } = await owner('GET', `${at}/members`)
    const mo = body.members.find(({ email }: { email: string }) => email === 'mo@example.com')
    const reply = await erase('POST', '/api/external/v1/chat/completions', {
      on_behalf_of: mo.user_id,
      messages: [{ role: 'user', content: secret }],
    })
    t.equal(reply.status, 200)
    const of = `${users}/${mo.user_id}/sessions`
    t.match(await erase('DELETE', of), { status: 403, code: 'not_provisioned' })
    await owner('DELETE', `${at}/members/${mo.user_id}`)
    t.match(await erase('DELETE', of), { status: 200, body: { deleted: 1 } })
  },
)
