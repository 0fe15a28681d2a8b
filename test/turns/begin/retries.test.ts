import OpenAI from 'openai'
import t from 'tap'
import { type Client, contents, isToken, user } from '../../support/client.ts'
import { eventually } from '../../support/eventually.ts'
import { held } from '../../support/held.ts'
import { movableClock, startChat } from '../../support/server.ts'

const messages = user('Hi')
const usage = { prompt_tokens: 10, completion_tokens: 4 }
const attempt = (n: number) => ({ headers: { 'x-stainless-retry-count': `${n}` } })
const answerOf = ({ body }: { body: { choices?: { message: { content: string } }[] } }) =>
  body.choices?.[0]?.message.content
type Scene = Awaited<ReturnType<typeof startChat>>

/** Resolves once the server has seen what was asked, or closed, before. */
const quiet = (key: Client) => key.sessions()

/** A client that leaves once its turn is under way, which ends only when it is let go. */
const leftTurn = async (
  { key, provider }: Scene,
  ask: (signal: AbortSignal) => Promise<unknown>,
) => {
  const turn = held({ usage })
  provider.next(turn.reply)
  const leaving = new AbortController()
  const request = ask(leaving.signal).catch(() => undefined)
  await provider.received(provider.requests.length + 1)
  leaving.abort()
  await request
  await quiet(key)
  return turn
}

const sessionsOf = async (key: Client): Promise<number> => (await key.sessions()).body.total

const isOver = async ({ key }: Pick<Scene, 'key'>, session: string) =>
  eventually(async () => !(await key.status(session)).body.is_processing || undefined)

t.test('a retry joins the run that goes on, and is charged once', async (t) => {
  for (const retry of [attempt(1), {}]) {
    const scene = await startChat(t)
    const { key, provider, organization } = scene
    const turn = await leftTurn(scene, (signal) => key.chat({ messages }, { signal }))
    const second = key.chat({ messages }, retry)
    await quiet(key)
    turn.go()
    t.equal(answerOf(await second), turn.text)
    t.equal(provider.requests.length, 1)
    t.equal(await sessionsOf(key), 1)
    t.equal((await organization.balance()).balance, 99.999935)
  }
})

t.test('a retry gets the answer of a run that has ended', async (t) => {
  const scene = await startChat(t)
  const { key, provider, organization } = scene
  const body = { messages, session_id: 'named' }
  const turn = await leftTurn(scene, (signal) => key.chat(body, { signal }))
  turn.go()
  await isOver(scene, 'named')
  const second = await key.chat(body)
  t.equal(answerOf(second), turn.text)
  t.strictSame(await contents(key, 'named'), ['Hi', turn.text])
  t.equal((await organization.balance()).balance, 99.999935)
  await key.chat(body)
  t.equal(provider.requests.length, 2, 'the answer is delivered by then')
})

t.test('a delivered answer cannot be claimed', async (t) => {
  const { key, provider } = await startChat(t, { text: 'Each.' })
  const first = await key.chat({ messages }, attempt(0))
  const stream = await key.stream({ messages })
  await stream.all()
  const background = { input: 'Hi', background: true }
  const started = await key.ask('POST', '/api/external/v1/responses', background)
  const sessions = new Set([first.body.session_id, started.body.conversation.id])
  for (const retry of [attempt(1), attempt(2), {}]) {
    const { body } = await key.chat({ messages }, retry)
    sessions.add(body.session_id)
    await (await key.stream({ messages }, retry)).all()
    const again = await key.ask('POST', '/api/external/v1/responses', background, retry)
    sessions.add(again.body.conversation.id)
  }
  t.equal(sessions.size, 8)
  t.equal(await sessionsOf(key), 12)
  await eventually(async () => provider.requests.length === 12 || undefined)
})

t.test(
  'a stream is delivered once its status line is written, though its client leaves',
  async (t) => {
    const { key, provider } = await startChat(t)
    const turns = [held(), held()]
    provider.next(...turns.map(({ reply }) => reply))
    const leaving = new AbortController()
    const first = await key.stream({ messages }, { signal: leaving.signal })
    await first.until(isToken)
    leaving.abort()
    await quiet(key)
    const second = await key.stream({ messages }, attempt(1))
    await second.until(isToken)
    t.equal(provider.requests.length, 2)
    for (const turn of turns) turn.go()
    await second.all()
  },
)

t.test('a retry of a failed request keeps its session and its message', async (t) => {
  const ask: Record<string, (on: Client) => Promise<{ status: number }>> = {
    chat: (on) => on.chat({ messages }),
    responses: (on) => on.ask('POST', '/api/external/v1/responses', { input: 'Hi' }),
  }
  for (const [name, send] of Object.entries(ask)) {
    const { key, provider } = await startChat(t, { text: 'Now.' })
    provider.next({ status: 400 }, { status: 400 })
    t.equal((await send(key)).status, 500, name)
    t.equal((await send(key)).status, 500)
    t.equal((await send(key)).status, 200)
    const { sessions } = (await key.sessions()).body
    t.equal(sessions.length, 1)
    t.strictSame(await contents(key, sessions[0].session_id), ['Hi', 'Now.'])
    await send(key)
    t.equal(await sessionsOf(key), 2, 'once it is delivered, the next stands on its own')
  }
})

t.test('a retry of a response that follows another stays where it was', async (t) => {
  const { key, provider } = await startChat(t, { text: 'Now.' })
  const respond = (body: object) => key.ask('POST', '/api/external/v1/responses', body)
  const first = await respond({ input: 'First' })
  const session = first.body.conversation.id
  const next = { input: 'Second', previous_response_id: first.body.id }
  provider.next({ status: 400 })
  t.equal((await respond(next)).status, 500)
  t.equal((await respond(next)).status, 200)
  t.strictSame(await contents(key, session), ['First', 'Now.', 'Second', 'Now.'])
  provider.next({ status: 400 })
  t.equal((await respond(next)).status, 500, 'in a fork, since the session has gone on')
  const retry = await respond(next)
  t.equal(retry.status, 200)
  t.equal(await sessionsOf(key), 2)
  t.strictSame(await contents(key, retry.body.conversation.id), ['First', 'Now.', 'Second', 'Now.'])
})

t.test('a retry of a regenerate stays in its fork', async (t) => {
  const { key, provider } = await startChat(t, { text: 'Now.' })
  await key.chat({ messages, session_id: 'source' })
  const [{ event_id: id }] = (await key.messages('source')).body.messages
  const path = `/api/external/sessions/source/messages/${id}/regenerate`
  provider.next({ status: 400 })
  t.equal((await key.ask('POST', path, {})).status, 500)
  const { status, body } = await key.ask('POST', path, {})
  t.equal(status, 200)
  t.equal(await sessionsOf(key), 2)
  t.strictSame(await contents(key, body.session_id), ['Hi', 'Now.'])
})

t.test('a retry of an agent completion joins its run', async (t) => {
  const scene = await startChat(t)
  const { key, provider, organization } = scene
  const path = `/api/external/agents/${await organization.agent({ name: 'Clerk' })}/completions`
  const ask = (init: object = {}) => key.ask('POST', path, { message: 'Hi' }, init)
  const turn = await leftTurn(scene, (signal) => ask({ signal }))
  const second = ask()
  await quiet(key)
  turn.go()
  t.match(await second, { status: 200, body: { response: turn.text } })
  t.equal(provider.requests.length, 1)
})

t.test('requests that are not identical run on their own', async (t) => {
  const scene = await startChat(t, { text: 'Own.' })
  const { key, provider, organization, server } = scene
  const scopes = ['orchestrator:invoke', 'sessions:read', 'users:delegate']
  const both = await organization.key({ scopes })
  const member = await organization.member()
  const strangers = await (await server.platform.organization()).key()
  const turn = await leftTurn(scene, (signal) => both.chat({ messages }, { signal }))
  const completions = '/api/external/v1/chat/completions'
  const others = [
    await both.chat({ messages: user('Other') }, attempt(1)),
    await both.chat({ messages, session_id: 'named' }, attempt(1)),
    await both.chat({ messages, on_behalf_of: member }, attempt(1)),
    await both.ask('POST', `${completions}?a=1`, { messages }, attempt(1)),
    await both.chat({ messages }, { headers: { 'idempotency-key': 'one' } }),
    await key.chat({ messages }, attempt(1)),
    await strangers.chat({ messages }, attempt(1)),
  ]
  t.strictSame(others.map(answerOf), Array(7).fill('Own.'))
  t.equal(provider.requests.length, 8)
  const claim = both.chat({ messages })
  await quiet(both)
  turn.go()
  t.equal(answerOf(await claim), turn.text)
})

t.test('one of two claimants gets the run', async (t) => {
  const scene = await startChat(t, { text: 'Own.' })
  const { key, provider } = scene
  const turn = await leftTurn(scene, (signal) => key.chat({ messages }, { signal }))
  const claims = [key.chat({ messages }), key.chat({ messages })]
  await provider.received(2)
  turn.go()
  const replies = await Promise.all(claims)
  t.strictSame(replies.map(answerOf).toSorted(), ['Own.', turn.text])
  t.equal(new Set(replies.map(({ body }) => body.session_id)).size, 2)
  t.equal(provider.requests.length, 2)
})

t.test('a claimant that disconnects releases the run', async (t) => {
  const scene = await startChat(t)
  const { key, provider } = scene
  const turn = await leftTurn(scene, (signal) => key.chat({ messages }, { signal }))
  for (let n = 0; n < 3; n++) {
    const leaving = new AbortController()
    const claim = key
      .chat({ messages }, { ...attempt(n + 1), signal: leaving.signal })
      .catch(() => undefined)
    await quiet(key)
    leaving.abort()
    await claim
    await quiet(key)
  }
  const last = key.chat({ messages }, attempt(4))
  await quiet(key)
  turn.go()
  t.equal(answerOf(await last), turn.text)
  t.equal(provider.requests.length, 1)
})

t.test('a retry does not wait for a first client that stays', async (t) => {
  const { key, provider } = await startChat(t, { text: 'Own.' })
  const turn = held()
  provider.next(turn.reply)
  const first = key.chat({ messages })
  await provider.received(1)
  const retry = await key.chat({ messages }, attempt(1))
  t.equal(answerOf(retry), 'Own.')
  turn.go()
  const { body } = await first
  t.equal(answerOf({ body }), turn.text)
  t.not(body.session_id, retry.body.session_id)
})

t.test('a retry waits for the connection of the first request to close', async (t) => {
  const scene = await startChat(t)
  const { key, provider } = scene
  const turn = held()
  provider.next(turn.reply)
  const leaving = new AbortController()
  const first = key.chat({ messages }, { signal: leaving.signal }).catch(() => undefined)
  await provider.received(1)
  const retry = key.chat({ messages }, attempt(1))
  await quiet(key)
  leaving.abort()
  await first
  await quiet(key)
  turn.go()
  t.equal(answerOf(await retry), turn.text)
  t.equal(provider.requests.length, 1)
})

t.test('a run cannot be claimed after ten minutes', async (t) => {
  const clock = movableClock()
  const scene = await startChat(t, { text: 'Own.' }, { clock })
  const { key, provider } = scene
  const turn = await leftTurn(scene, (signal) => key.chat({ messages }, { signal }))
  turn.go()
  await quiet(key)
  clock.advance(600_001)
  t.equal(answerOf(await key.chat({ messages }, attempt(1))), 'Own.')
  t.equal(provider.requests.length, 2)
})

t.test('a run whose session was erased is not continued', async (t) => {
  const scene = await startChat(t, { text: 'Own.' })
  const { provider, organization } = scene
  const key = await organization.key({
    scopes: [
      'orchestrator:invoke',
      'sessions:read',
      'sessions:delete',
      'users:provision',
      'users:delegate',
    ],
  })
  const users = '/api/external/management/users'
  const { organizationId: organization_id } = organization
  const ann = await key.ask('POST', users, { email: 'ann@example.com', organization_id })
  const { user_id } = ann.body
  const body = { messages, on_behalf_of: user_id }
  const turn = await leftTurn(scene, (signal) => key.chat(body, { signal }))
  turn.go()
  await eventually(async () => {
    const erased = await key.ask('DELETE', `${users}/${user_id}/sessions`)
    return erased.body.deleted === 1 || undefined
  })
  t.equal(answerOf(await key.chat(body)), 'Own.')
  t.equal((await key.sessions(`?on_behalf_of=${user_id}`)).body.total, 1)
  t.equal(provider.requests.length, 2)
})

t.test('a turn cancelled by its client’s disconnect cannot be claimed', async (t) => {
  const scene = await startChat(t, { text: 'Own.' })
  const { key, provider } = scene
  const body = { messages, stream_options: { on_disconnect: 'cancel' } }
  await leftTurn(scene, (signal) => key.chat(body, { signal }))
  t.equal(answerOf(await key.chat(body, attempt(1))), 'Own.')
  t.equal(provider.requests.length, 2)
})

t.test('the openai package, whose time-out is short, has one turn and one charge', async (t) => {
  const model = 'svc-orchestrator'
  const requests: Record<string, (openai: OpenAI) => Promise<string | null | undefined>> = {
    chat: async ({ chat }) => {
      const answer = await chat.completions.create({
        model,
        messages: [{ role: 'user', content: 'Hi' }],
      })
      return answer.choices[0]?.message.content
    },
    responses: async ({ responses }) =>
      (await responses.create({ model, input: 'Hi' })).output_text,
  }
  for (const [name, ask] of Object.entries(requests)) {
    const { key, provider, server, organization } = await startChat(t)
    const turn = held({ usage })
    provider.next(turn.reply)
    let attempts = 0
    const openai = new OpenAI({
      apiKey: key.key,
      baseURL: `${server.url}/api/external/v1`,
      maxRetries: 2,
      timeout: 300,
      fetch: (url, init) => {
        if (++attempts === 3) turn.go()
        return fetch(url, init)
      },
    })
    t.equal(await ask(openai), turn.text, name)
    t.equal(attempts, 3)
    t.equal(provider.requests.length, 1)
    t.equal(await sessionsOf(key), 1)
    t.equal((await organization.balance()).balance, 99.999935)
  }
})
