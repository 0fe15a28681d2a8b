import t from 'tap'
import { type Client, user } from '../support/client.ts'
import { startChat } from '../support/server.ts'

const users = '/api/external/management/users'
const scopes = [
  'orchestrator:invoke',
  'orchestrator:stream',
  'agents:invoke',
  'sessions:read',
  'sessions:messages',
]
const session_id = 'theirs'

type Operation = (key: Client, on_behalf_of: string) => Promise<{ status: number; body: unknown }>

/** Every place that takes `on_behalf_of`, in the order in which a session is made and read. */
const places = (agent: string): Record<string, Operation> => ({
  'POST chat/completions': (key, on_behalf_of) =>
    key.chat({ messages: user('Hi'), session_id, on_behalf_of }),
  'POST chat/completions, streamed': (key, on_behalf_of) =>
    key.chat({ messages: user('Hi'), session_id, on_behalf_of, stream: true }),
  'POST agents/{agent_id}/completions': (key, on_behalf_of) =>
    key.ask('POST', `${agent}/completions`, { message: 'Hi', session_id, on_behalf_of }),
  'POST agents/{agent_id}/completions, streamed': (key, on_behalf_of) =>
    key.ask('POST', `${agent}/completions`, {
      message: 'Hi',
      session_id,
      on_behalf_of,
      stream: true,
    }),
  'POST warmup': (key, on_behalf_of) =>
    key.ask('POST', '/api/external/v1/warmup', { on_behalf_of }),
  'GET sessions': (key, target) => key.sessions(`?on_behalf_of=${target}`),
  'GET sessions/{session_id}/messages': (key, target) =>
    key.messages(session_id, `?on_behalf_of=${target}`),
  'GET sessions/{session_id}/status': (key, target) =>
    key.status(session_id, `?on_behalf_of=${target}`),
  'POST sessions/{session_id}/cancel': (key, on_behalf_of) =>
    key.cancel(session_id, { on_behalf_of }),
  'GET sessions/{session_id}/stream': (key, target) =>
    key.ask('GET', `/api/external/sessions/${session_id}/stream?on_behalf_of=${target}`),
})

t.test('on_behalf_of, wherever it is accepted', async (t) => {
  const { server, organization } = await startChat(t)
  const { organizationId: organization_id } = organization
  const agent = `/api/external/agents/${await organization.agent({ name: 'Solo' })}`
  const plain = await organization.key({ scopes })
  const delegate = await organization.key({ scopes: [...scopes, 'users:delegate'] })
  const sibling = await organization.key({ scopes: [...scopes, 'users:delegate'] })
  const provisions = await organization.key({ scopes: ['users:provision'] })
  const provisioned = await provisions.ask('POST', users, {
    email: 'ann@example.com',
    organization_id,
  })
  const ann: string = provisioned.body.user_id
  const active = await organization.member()
  const removed = await organization.member()
  await server.platform.ask('DELETE', `/organizations/${organization_id}/members/${removed}`)
  const strangers = await server.platform.organization()
  const login = { email: 'self@example.com', provider: 'test', subject: 'self' }
  const self = (await server.platform.ask('POST', '/identity/logins', login)).user_id
  const elsewhere = await strangers.key({ scopes: [...scopes, 'users:delegate'] })

  for (const [name, operation] of Object.entries(places(agent)))
    await t.test(name, async (t) => {
      t.match(
        await operation(plain, ann),
        {
          status: 403,
          code: 'insufficient_scopes',
          body: { error: 'insufficient_scopes', missing_scopes: ['users:delegate'] },
        },
        'without users:delegate',
      )
      const unknown = {
        status: 404,
        code: 'user_not_found',
        body: { error: { message: String, type: String, code: 'user_not_found' } },
      }
      t.match(await operation(delegate, 'nobody'), unknown, 'nobody')
      t.match(
        await operation(delegate, strangers.ownerId),
        unknown,
        'a member of another organization',
      )
      t.match(await operation(delegate, self), unknown, 'an account that signed in by itself')
      t.match(await operation(delegate, removed), unknown, 'a member who was removed')
      t.match(await operation(elsewhere, ann), unknown, 'by a key of another organization')
      t.match(await operation(delegate, ann), { status: 200 }, 'a pending member')
      t.match(await operation(sibling, ann), { status: 200 }, 'by another key of the organization')
    })

  const own = await delegate.sessions()
  t.equal(own.body.total, 0, 'nothing is the key’s')
  t.match(await delegate.messages(session_id), { status: 404, code: 'session_not_found' })
  t.match(await delegate.messages(session_id, `?on_behalf_of=${active}`), { status: 404 })
  const { body } = await delegate.chat({ messages: user('Hi'), on_behalf_of: active })
  t.equal((await delegate.messages(body.session_id, `?on_behalf_of=${active}`)).status, 200)
  t.match(
    await delegate.messages(body.session_id, `?on_behalf_of=${ann}`),
    { status: 404 },
    'of one user alone',
  )
  const { events } = (
    await server
      .as((await organization.key({ scopes: ['admin:read'] })).key)
      .ask('GET', `/api/admin/organizations/${organization_id}/audit/events?type=RunStarted`)
  ).body
  t.match(events[0].metadata, {
    actor: { user_id: organization.ownerId },
    on_behalf_of: ann,
  })
})
