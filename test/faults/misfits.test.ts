import t, { type Test } from 'tap'
import { v7 as uuid } from 'uuid'
import { systemClock } from '../../src/app/system-clock.ts'
import { user } from '../support/client.ts'
import { startChat } from '../support/server.ts'

type Scene = Awaited<ReturnType<typeof startChat>>

/** Whatever was stored is read: after a restart, from the log alone, and by auditors. */
const isReadable = async (t: Test, { server, key, organization }: Scene) => {
  await server.restart()
  const again = server.as(key.key)
  t.equal((await again.chat({ messages: user('Again') })).status, 200, 'the organization chats')
  const sessions = await again.sessions()
  t.equal(sessions.status, 200)
  for (const { session_id } of sessions.body.sessions)
    t.equal((await again.messages(session_id)).status, 200)
  const path = `/organizations/${organization.organizationId}/audit/events`
  t.ok((await server.platform.ask('GET', path)).events.length > 0)
  const { balance, effective } = await server.platform.balanceOf(organization.ownerId)
  t.equal(effective, balance, 'nothing is held back')
  return balance
}

const absurd = 1e15
const chatPath = '/api/external/v1/chat/completions'
const responsesPath = '/api/external/v1/responses'
const hi = { messages: user('Hi') }

/** Every way to say how long an answer may be. */
const ways: Record<string, (scene: Scene) => Promise<unknown>> = {
  'max_tokens of chat': async ({ key }) => (await key.chat({ ...hi, max_tokens: absurd })).status,
  'max_completion_tokens of chat': async ({ key }) =>
    (await key.chat({ ...hi, max_completion_tokens: absurd })).status,
  'max_tokens of a stream': async ({ key }) => {
    const stream = await key.stream({ ...hi, max_tokens: absurd })
    return (await stream.all()).at(-1)?.data === '[DONE]' ? stream.status : 'no end'
  },
  'max_tokens of an agent': async ({ key, organization }) => {
    const agent = await organization.agent({ name: 'One' })
    const path = `/api/external/agents/${agent}/completions`
    return (await key.ask('POST', path, { message: 'Hi', max_tokens: absurd })).status
  },
  'max_output_tokens of a response': async ({ key }) => {
    const body = { input: 'Hi', max_output_tokens: absurd }
    return (await key.ask('POST', responsesPath, body)).status
  },
}

for (const [way, ask] of Object.entries(ways))
  t.test(`${way} of 1e15: it reaches the provider, and what is reserved can be read`, async (t) => {
    const scene = await startChat(t, { text: 'Hello' })
    t.equal(await ask(scene), 200)
    const request = scene.provider.requests[0]?.body
    t.equal(request?.max_completion_tokens ?? request?.max_tokens, absurd)
    t.ok((await isReadable(t, scene)) > 99.9)
  })

t.test('a context size as max_tokens reaches the provider as it is', async (t) => {
  const { key, provider } = await startChat(t)
  t.equal((await key.chat({ ...hi, max_tokens: 1_048_576 })).status, 200)
  t.equal(provider.requests[0]?.body.max_tokens, 1_048_576)
})

t.test('a provider report of 1e15 tokens is replaced by our count', async (t) => {
  const usage = { prompt_tokens: absurd, completion_tokens: absurd }
  const scene = await startChat(t, { text: 'Hello', usage })
  const { status, body } = await scene.key.chat(hi)
  t.equal(status, 200)
  t.ok(body.usage.total_tokens < 1_000, `${body.usage.total_tokens} tokens`)
  t.ok((await isReadable(t, scene)) > 99.9)
})

t.test(
  'a provider that names tools by half a character is answered as for any other',
  async (t) => {
    const scene = await startChat(t)
    scene.provider.next({ calls: [{ name: 'half \ud800', arguments: { city: '\udc00' } }] })
    scene.provider.next({ text: 'Done' })
    t.match(await scene.key.chat(hi), { status: 200 })
    await isReadable(t, scene)
  },
)

/** Ids of this process are what no schema and no store takes, while it is told so. */
const spoiledIds = () => {
  let spoiled = false
  return {
    clock: { ...systemClock, id: () => (spoiled ? 'half \ud800' : uuid()) },
    async while<T>(work: () => Promise<T>): Promise<T> {
      spoiled = true
      try {
        return await work()
      } finally {
        spoiled = false
      }
    },
  }
}

t.test(
  'a misfit is answered with 500 internal_error, without stored events or held credits',
  async (t) => {
    const ids = spoiledIds()
    const scene = await startChat(t, { text: 'Hello' }, { clock: ids.clock })
    const { key, server, organization } = scene
    const history = async () => {
      const path = `/organizations/${organization.organizationId}/audit/events?type=RunStarted`
      return (await server.platform.ask('GET', path)).events.length
    }
    const before = await history()
    const agent = await organization.agent({ name: 'One' })
    const session = { session_id: 'session-1' }
    const headers = { 'idempotency-key': 'once', 'x-request-id': 'request-1' }
    const own = { headers: { 'x-request-id': 'request-2' } }
    const internal = { status: 500, code: 'internal_error' }
    const nested = { error: { code: 'internal_error', type: 'server_error' } }

    // As often as the key may ask at once, and as many as may wait in line.
    for (let n = 0; n < 12; n++)
      t.match(await ids.while(() => key.chat({ ...hi, ...session }, { headers })), {
        ...internal,
        body: nested,
      })
    const reply = await ids.while(() =>
      key.ask(
        'POST',
        `/api/external/agents/${agent}/completions`,
        { message: 'Hi' },
        { headers: { 'x-request-id': 'r' } },
      ),
    )
    t.match(reply, { ...internal, body: nested })
    const streamed = await ids.while(() => key.ask('POST', chatPath, { ...hi, stream: true }, own))
    t.match(streamed, { ...internal, body: nested })
    const response = await ids.while(() => key.ask('POST', responsesPath, { input: 'Hi' }, own))
    t.match(response, { ...internal, body: nested })
    t.equal(await history(), before, 'no run was begun')
    t.match(
      await key.chat({ ...hi, ...session }, { headers }),
      { status: 200 },
      'the same key again',
    )
    t.equal(await history(), before + 1)
    await isReadable(t, scene)
  },
)
