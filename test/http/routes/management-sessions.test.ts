import t from 'tap'
import { isToken, user } from '../../support/client.ts'
import { held } from '../../support/held.ts'
import { partner } from '../../support/partner.ts'
import { served } from '../../support/served.ts'
import { startChat } from '../../support/server.ts'

const users = '/api/external/management/users'
const secret = 'My secret is heron'

t.test('deleting the conversations of a provisioned user', async (t) => {
  const all = await served(t)
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
  const made = await key.ask('POST', users, { email: 'cy@example.com', organization_id })
  const { user_id: on_behalf_of } = made.body
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
  const made = await ask('POST', users, { email: 'di@example.com', organization_id })
  const { user_id: on_behalf_of } = made.body
  const again = (name: string) => ({ headers: { 'idempotency-key': name } })
  const whole = { on_behalf_of, messages: user('Hello') }
  const streamed = { stream: true, ...whole }
  const single = { on_behalf_of, message: 'Hello' }
  const repeat = async (by = server.as(key)) => [
    await by.chat(whole, again('whole')),
    await by.chat(streamed, again('streamed')),
    await by.chat({ ...streamed, session_id: 'running' }, again('running')),
    await by.ask('POST', agent, single, again('single')),
    await by.ask('POST', agent, { ...single, stream: true }, again('single-streamed')),
  ]
  provider.next({ text: 'Hi' }, { text: 'Hi' }, held().reply)
  await chat(whole, again('whole'))
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
