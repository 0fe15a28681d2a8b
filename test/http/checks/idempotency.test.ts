import { randomUUID } from 'node:crypto'
import t from 'tap'
import { contents, isToken, textOf, user } from '../../support/client.ts'
import { eventually } from '../../support/eventually.ts'
import { held } from '../../support/held.ts'
import { superAdminKey } from '../../support/platform.ts'
import { startApp, startChat } from '../../support/server.ts'

const messages = user('Hi')
const keyed = (key: string = randomUUID()) => ({ headers: { 'idempotency-key': key } })

t.test('the same key with the same body returns the first answer', async (t) => {
  const { key, provider, organization } = await startChat(t)
  const again = keyed()
  const first = await key.chat({ messages }, again)
  t.equal(first.headers.get('idempotency-replayed'), null)
  const balance = await organization.balance()
  const second = await key.chat({ messages }, again)
  t.equal(second.status, 200)
  t.equal(second.headers.get('idempotency-replayed'), 'true')
  t.match(second.headers.get('content-type'), /^application\/json/)
  t.strictSame(second.body, first.body)
  t.equal(provider.requests.length, 1)
  t.equal((await key.messages(first.body.session_id)).body.total, 2, 'and does nothing twice')
  t.strictSame(await organization.balance(), balance)
})

t.test('with another body: 409 idempotency_key_reused', async (t) => {
  const { key, organization } = await startChat(t)
  const again = keyed()
  await key.chat({ messages }, again)
  const other = await key.chat({ messages: user('Other') }, again)
  t.match(other, { status: 409, body: { error: { code: 'idempotency_key_reused' } } })
  const elsewhere = await organization.key()
  t.equal((await elsewhere.chat({ messages: user('Other') }, again)).status, 200, 'per API key')
})

t.test('while the first still runs: it waits', async (t) => {
  const { key, provider } = await startChat(t)
  const turn = held()
  provider.next(turn.reply)
  const again = keyed()
  const first = key.chat({ messages }, again)
  await provider.received(1)
  const more = [key.chat({ messages }, again), key.chat({ messages }, again)]
  const abort = new AbortController()
  const leaving = key.chat({ messages }, { ...again, signal: abort.signal })
  const other = await key.chat({ messages: user('Other') }, again)
  t.equal(other.code, 'idempotency_key_reused')
  abort.abort()
  await leaving.catch(() => undefined)
  await key.sessions()
  t.equal(provider.requests.length, 1)
  turn.go()
  const { body } = await first
  for (const reply of await Promise.all(more)) {
    t.strictSame(reply.body, body)
    t.equal(reply.headers.get('idempotency-replayed'), 'true')
  }
  t.equal(provider.requests.length, 1)
})

t.test('a stream is answered by the stream of the first', async (t) => {
  const { key, provider, server } = await startChat(t)
  const turn = held()
  provider.next(turn.reply)
  const again = keyed()
  const first = await key.stream({ messages }, again)
  await first.until(isToken)
  const joined = await key.stream({ messages }, again)
  t.equal(joined.headers.get('idempotency-replayed'), 'true')
  turn.go()
  const rest = await first.all()
  const all = await joined.all()
  t.strictSame(all.slice(-rest.length), rest, 'joined while it runs')
  t.equal(textOf(all.slice(0, -1)), turn.text)
  const later = await (await key.stream({ messages }, again)).all()
  t.strictSame(later, all, 'and after its end')
  await server.restart()
  const stream = await server.as(key.key).stream({ messages }, again)
  t.equal(stream.headers.get('idempotency-replayed'), 'true')
  t.equal(textOf((await stream.all()).slice(0, -1)), turn.text, 'and after a restart')
  t.equal(provider.requests.length, 1)
})

t.test(
  'a request whose payer lost the plan since is answered as the first, also streamed',
  async (t) => {
    const { key, organization, server, provider } = await startChat(t)
    const wholeAgain = keyed()
    const streamed = keyed()
    const first = await key.chat({ messages }, wholeAgain)
    const frames = await (await key.stream({ messages }, streamed)).all()
    const path = `/users/${organization.ownerId}/subscription`
    await server.platform.ask('PUT', path, { plan: null })
    t.equal((await key.chat({ messages })).status, 403)
    t.strictSame((await key.chat({ messages }, wholeAgain)).body, first.body)
    t.strictSame(await (await key.stream({ messages }, streamed)).all(), frames)
    t.equal(provider.requests.length, 2)
  },
)

t.test('also across a restart', async (t) => {
  const { key, provider, server } = await startChat(t)
  const again = keyed()
  const first = await key.chat({ messages }, again)
  await server.restart()
  const second = await server.as(key.key).chat({ messages }, again)
  t.equal(second.headers.get('idempotency-replayed'), 'true')
  t.strictSame(second.body, first.body)
  t.equal(provider.requests.length, 1)
})

t.test('a client that went away finds its answer', async (t) => {
  const { key, provider } = await startChat(t)
  const turn = held()
  provider.next(turn.reply)
  const again = keyed()
  const leaving = new AbortController()
  const first = key.chat({ messages }, { ...again, signal: leaving.signal })
  await provider.received(1)
  leaving.abort()
  await first.catch(() => undefined)
  const second = key.chat({ messages }, again)
  turn.go()
  t.equal((await second).body.choices[0].message.content, turn.text)
  t.equal(provider.requests.length, 1)
  const third = await key.chat({ messages }, again)
  t.equal(third.body.choices[0].message.content, turn.text)
})

t.test('failures are not kept: the same message runs again', async (t) => {
  const { key, provider } = await startChat(t, { text: 'Better now.' })
  const session_id = 'again'
  for (const stream of [false, true]) {
    const again = keyed()
    provider.next({ status: 400 })
    const body = { messages: user(`stream: ${stream}`), session_id }
    if (stream) {
      const failed = await (await key.stream(body, again)).all()
      t.match(failed.at(-2)?.data, { error: { code: 'model_misconfigured' } })
      const second = await (await key.stream(body, again)).all()
      t.equal(textOf(second.slice(0, -1)), 'Better now.')
      const third = await (await key.stream(body, again)).all()
      t.equal(textOf(third.slice(0, -1)), 'Better now.')
    } else {
      t.equal((await key.chat(body, again)).status, 500)
      t.equal((await key.chat(body, again)).body.choices[0].message.content, 'Better now.')
    }
  }
  t.strictSame(
    await contents(key, session_id),
    ['stream: false', 'Better now.', 'stream: true', 'Better now.'],
    'and is recorded once',
  )
  t.equal(provider.requests.length, 4)
})

t.test(
  'a failed message that runs again behind another turn comes last for the model',
  async (t) => {
    const { key, provider } = await startChat(t, { text: 'Fine.' })
    const session_id = 'later'
    const again = keyed()
    provider.next({ status: 400 })
    const first = { messages: user('First'), session_id }
    t.equal((await key.chat(first, again)).status, 500)
    await key.chat({ messages: user('Second'), session_id })
    t.equal((await key.chat(first, again)).body.choices[0].message.content, 'Fine.')
    const texts = provider.requests
      .at(-1)
      ?.body.messages.filter(({ role }: { role: string }) => role !== 'system')
      .map(({ content }) => content)
    t.strictSame(texts, ['Second', 'Fine.', 'First'])
  },
)

t.test('after a failure the key may be used with another body', async (t) => {
  const { key, provider } = await startChat(t, { text: 'Fine.' })
  const session_id = 'other'
  const again = keyed()
  provider.next({ status: 400 })
  t.equal((await key.chat({ messages: user('One'), session_id }, again)).status, 500)
  t.equal((await key.chat({ messages: user('Two'), session_id }, again)).status, 200)
  t.strictSame(await contents(key, session_id), ['One', 'Two', 'Fine.'])
})

t.test('refused keys', async (t) => {
  const { key } = await startChat(t)
  const reply = await key.chat({ messages }, keyed('x'.repeat(256)))
  t.match(reply, { status: 400, body: { error: { param: 'Idempotency-Key' } } })
})

t.test('an empty key counts as absent', async (t) => {
  const { key, provider } = await startChat(t)
  for (const empty of ['', '  ']) t.equal((await key.chat({ messages }, keyed(empty))).status, 200)
  t.equal(provider.requests.length, 2)
})

t.test('the platform key repeats its requests too', async (t) => {
  const server = await startApp(t)
  const admin = server.as(superAdminKey)
  const again = keyed()
  const organization = { name: 'One', owner: { email: 'one@example.com', name: 'Ona' } }
  const first = await admin.ask('POST', '/api/admin/organizations', organization, again)
  const second = await admin.ask('POST', '/api/admin/organizations', organization, again)
  t.match([first.status, second.status], [201, 201])
  t.strictSame(second.body, first.body)
  t.equal(second.headers.get('idempotency-replayed'), 'true')
  const grant = `/api/admin/users/${first.body.owner_user_id}/credits`
  const gift = { amount: 5, reason: 'gift' }
  t.equal((await admin.ask('POST', grant, gift, again)).code, 'idempotency_key_reused')
  const once = keyed()
  t.match(await admin.ask('POST', grant, gift, once), { body: { credit_balance: 5 } })
  t.match(await admin.ask('POST', grant, gift, once), { body: { credit_balance: 5 } })
  t.match(await admin.ask('POST', grant, gift), { body: { credit_balance: 10 } })
})

t.test('a cancelled turn is not kept: the same message runs again', async (t) => {
  const { key, provider } = await startChat(t, { text: 'Better now.' })
  const replayed = 'idempotency-replayed'
  for (const stream of [false, true]) {
    const again = keyed()
    const session_id = `stream-${stream}`
    const body = { messages: user('Hi'), session_id }
    const count = provider.requests.length + 1
    provider.next(held().reply)
    if (stream) {
      const first = await key.stream(body, again)
      await first.until(isToken)
      await key.cancel(session_id)
      t.match((await first.all()).at(-2)?.data, { error: { code: 'turn_cancelled' } })
      const second = await key.stream(body, again)
      t.equal(second.headers.get(replayed), null)
      t.equal(textOf((await second.all()).slice(0, -1)), 'Better now.')
    } else {
      const first = key.chat(body, again)
      await provider.received(count)
      await eventually(async () => {
        const follower = await key.attach(session_id)
        return isToken(await follower.until(isToken))
      })
      await key.cancel(session_id)
      t.match(await first, { status: 409, code: 'turn_cancelled' })
      const second = await key.chat(body, again)
      t.equal(second.headers.get(replayed), null)
      t.equal(second.body.choices[0].message.content, 'Better now.')
    }
    const prompt = provider.requests.at(-1)?.body.messages
    t.equal(prompt?.at(-1)?.content, 'Hi', 'the message is the last that the model sees')
    t.notOk(JSON.stringify(prompt).includes('one '), 'which the cancelled answer is kept from')
    t.equal(provider.requests.length, count + 1)
    const third = stream ? await key.stream(body, again) : await key.chat(body, again)
    t.equal(third.headers.get(replayed), 'true')
    t.equal(provider.requests.length, count + 1, 'its answer is kept')
  }
})

t.test('a request that waited for a turn is cancelled with it', async (t) => {
  const { key, provider } = await startChat(t)
  const again = keyed()
  provider.next(held().reply)
  const body = { messages: user('Hi'), session_id: 'waiting' }
  const first = key.chat(body, again)
  await provider.received(1)
  const second = key.chat(body, again)
  await key.sessions()
  await key.cancel('waiting')
  for (const reply of [first, second]) t.match(await reply, { status: 409, code: 'turn_cancelled' })
  t.equal(provider.requests.length, 1)
})

t.test('a response that is cancelled is not kept either', async (t) => {
  const { key, provider } = await startChat(t, { text: 'Better now.' })
  const again = keyed()
  const responses = '/api/external/v1/responses'
  provider.next(held().reply)
  const ask = () => key.ask('POST', responses, { input: 'Hi', model: 'svc-orchestrator' }, again)
  const first = ask()
  await provider.received(1)
  const [session] = (await key.sessions()).body.sessions
  await key.cancel(session.session_id)
  t.match(await first, { status: 200, body: { status: 'cancelled' } })
  t.match(await ask(), { status: 200, body: { status: 'completed' } })
  const replay = await ask()
  t.equal(replay.headers.get('idempotency-replayed'), 'true')
  t.equal(provider.requests.length, 2)
})
