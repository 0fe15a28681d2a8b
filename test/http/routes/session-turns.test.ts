import t from 'tap'
import { contents, isToken, textOf, user } from '../../support/client.ts'
import { eventually } from '../../support/eventually.ts'
import { held } from '../../support/held.ts'
import { startChat } from '../../support/server.ts'

const text = 'one two three four.'

t.test('two turns on one session at once: the second waits its turn', async (t) => {
  const { key, provider } = await startChat(t, { text: 'Second answer.' })
  const first = held()
  provider.next(first.reply)
  const session_id = 'queue'
  const running = await key.stream({ messages: user('One'), session_id })
  await running.until(isToken)
  const two = key.chat({ messages: user('Two'), session_id })
  const three = await key.stream({ messages: user('Three'), session_id })
  t.equal(three.status, 200, 'a stream in line has its headers')
  t.equal(provider.requests.length, 1)
  first.go()
  t.equal((await running.all()).at(-1)?.data, '[DONE]')
  t.equal((await two).body.choices[0].message.content, 'Second answer.')
  t.equal(textOf((await three.all()).slice(0, -1)), 'Second answer.')
  t.strictSame(await contents(key, session_id), [
    'One',
    text,
    'Two',
    'Second answer.',
    'Three',
    'Second answer.',
  ])
})

t.test('up to 8 in line; the ninth gets 409 session_busy', async (t) => {
  const { key, provider, organization } = await startChat(t, { text: 'Next.' })
  const first = held()
  provider.next(first.reply)
  const session_id = 'line'
  const running = await key.stream({ messages: user('0'), session_id })
  await running.until(isToken)
  const waiting = Array.from({ length: 8 }, (_, n) =>
    key.chat({ messages: user(`${n + 1}`), session_id }),
  )
  await t.resolves(async () => {
    for (let n = 0; n < 200; n++) {
      const ninth = await key.chat({ messages: user('9'), session_id })
      if (ninth.status === 409) {
        t.match(ninth, { code: 'session_busy', body: { error: { code: 'session_busy' } } })
        return
      }
    }
    throw new Error('the ninth was taken in')
  })
  const streamed = await key.stream({ messages: user('9'), session_id })
  t.equal(streamed.status, 409, 'also when streamed')
  await streamed.reply.text()
  first.go()
  await running.all()
  for (const { status } of await Promise.all(waiting)) t.equal(status, 200)
  t.equal((await key.messages(session_id)).body.total, 18)
  const { balance, effective } = await organization.balance()
  t.equal(balance, effective, 'nothing is held for those refused')
  const again = await key.attach(session_id)
  t.equal(textOf((await again.all()).slice(0, -1)), 'Next.', 'a refusal is not the last turn')
})

t.test('cancel stops the running turn and those in line', async (t) => {
  const { key, provider, organization } = await startChat(t, { text: 'After.' })
  provider.next(held().reply)
  const session_id = 'cancel'
  const before = await organization.balance()
  const running = await key.stream({ messages: user('One'), session_id })
  await running.until(isToken)
  const two = await key.stream({ messages: user('Two'), session_id })
  const reply = await key.cancel(session_id)
  t.strictSame(reply.body, { session_id, cancelled: true })
  const error = {
    message: 'The turn was cancelled',
    type: 'conflict_error',
    code: 'turn_cancelled',
  }
  for (const stream of [running, two, await key.attach(session_id)]) {
    const [end, last] = (await stream.all()).slice(-2)
    t.strictSame(end?.data, { error })
    t.equal(last?.data, '[DONE]')
  }
  await provider.requests[0]?.aborted
  t.equal(provider.requests.length, 1, 'what waited in line never asked the model')
  t.strictSame(await contents(key, session_id), ['One', 'one two ', 'Two'], 'what was said is kept')
  t.match((await key.status(session_id)).body, { is_processing: false })
  const after = await organization.balance()
  t.ok(after.balance < before.balance, 'and charged')
  t.equal(after.balance, after.effective, 'nothing is held any more')
  t.equal((await key.chat({ messages: user('Three'), session_id })).status, 200)
  t.strictSame((await key.cancel(session_id)).body, { session_id, cancelled: false })
})

t.test('an answer asked for as a whole comes from the model piece by piece', async (t) => {
  const { key, provider } = await startChat(t)
  provider.next(held().reply)
  const session_id = 'whole'
  const reply = key.chat({ messages: user('One'), session_id })
  await eventually(async () => provider.requests.length === 1)
  t.equal(provider.requests[0]?.body.stream, true)
  const follower = await key.attach(session_id)
  t.match(textOf([await follower.until(isToken)]), /^one /, 'for who follows it')
  await key.cancel(session_id)
  await follower.all()
  const refused = await reply
  t.match(refused, { status: 409, body: { error: { code: 'turn_cancelled' } } })
  t.equal(refused.headers.get('x-error-code'), 'turn_cancelled')
  t.equal(refused.headers.get('x-should-retry'), 'false', 'no SDK asks again by itself')
  const [question, answer] = await contents(key, session_id)
  t.equal(question, 'One')
  t.match(answer, /^one (two )?$/, 'what was said until then is kept')
})

t.test('a cancelled turn of one agent, and one that is regenerated, are refused too', async (t) => {
  const { key, provider, organization } = await startChat(t)
  const agent = await organization.agent({ name: 'Concierge' })
  const source = await key.chat({ messages: user('Hi'), session_id: 'source' })
  t.equal(source.status, 200)
  const { messages } = (await key.messages('source')).body
  const paths = [
    [`/api/external/agents/${agent}/completions`, { message: 'Hi' }],
    [`/api/external/sessions/source/messages/${messages[1].event_id}/regenerate`, {}],
  ] as const
  for (const [n, [path, body]] of paths.entries()) {
    const session_id = `whole-${n}`
    const count = provider.requests.length + 1
    provider.next(held().reply)
    const reply = key.ask('POST', path, { ...body, session_id })
    await provider.received(count)
    await key.cancel(session_id)
    t.match(await reply, { status: 409, code: 'turn_cancelled' }, path)
    provider.next(held().reply)
    const named = { ...body, session_id: `streamed-${n}`, stream: true }
    const stream = await key.open('POST', path, named)
    await stream.until(isToken)
    await key.cancel(named.session_id)
    const [end, last] = (await stream.all()).slice(-2)
    t.match(end?.data, { error: { code: 'turn_cancelled' } }, path)
    t.equal(last?.data, '[DONE]')
  }
})

t.test('a cancelled turn is refused after a restart too', async (t) => {
  const { server, key, provider } = await startChat(t)
  provider.next(held().reply)
  const session_id = 'restarted'
  const stream = await key.stream({ messages: user('One'), session_id })
  await stream.until(isToken)
  await key.cancel(session_id)
  await stream.all()
  await server.restart()
  const again = await (await server.as(key.key).attach(session_id)).all()
  t.match(again.at(-2)?.data, { error: { code: 'turn_cancelled' } })
  t.equal(again.at(-1)?.data, '[DONE]')
})

t.test('cancel: scopes and sessions that are not yours', async (t) => {
  const { key, organization } = await startChat(t)
  await key.chat({ messages: user('Hi'), session_id: 'mine' })
  const reader = await organization.key({ scopes: ['sessions:read'] })
  t.match(await reader.cancel('mine'), { status: 403, code: 'insufficient_scopes' })
  const other = await organization.key()
  t.match(await other.cancel('mine'), { status: 404, code: 'session_not_found' })
  t.match(await key.cancel('unknown'), { status: 404, code: 'session_not_found' })
})

t.test('a client that goes away does not lose its answer', async (t) => {
  const { key, provider } = await startChat(t)
  for (const streamed of [true, false]) {
    const session_id = `gone-${streamed}`
    const first = held()
    provider.next(first.reply)
    const leaving = new AbortController()
    const { signal } = leaving
    const count = provider.requests.length + 1
    const body = { messages: user('Hi'), session_id }
    if (streamed) {
      const stream = await key.stream(body, { signal })
      await stream.until(isToken)
      leaving.abort()
    } else {
      const reply = key.chat(body, { signal }).catch(() => undefined)
      await provider.received(count)
      leaving.abort()
      await reply
    }
    t.equal((await key.status(session_id)).body.is_processing, true)
    const again = await key.attach(session_id)
    first.go()
    t.equal(textOf((await again.all()).slice(0, -1)), text, 'it can be re-attached')
    t.strictSame(await contents(key, session_id), ['Hi', text], 'and is recorded')
  }
})

t.test('stream_options.on_disconnect: "cancel"', async (t) => {
  const { key, provider, organization } = await startChat(t)
  for (const streamed of [true, false]) {
    const session_id = `off-${streamed}`
    provider.next(held().reply)
    const leaving = new AbortController()
    const { signal } = leaving
    const count = provider.requests.length + 1
    const body = {
      messages: user('Hi'),
      session_id,
      stream_options: { on_disconnect: 'cancel' },
    }
    if (streamed) {
      const stream = await key.stream(body, { signal })
      await stream.until(isToken)
    } else void key.chat(body, { signal }).catch(() => undefined)
    await provider.received(count)
    leaving.abort()
    await provider.requests[count - 1]?.aborted
    const next = await key.chat({ messages: user('Next'), session_id })
    t.equal(next.status, 200)
    const texts = await contents(key, session_id)
    t.equal(texts[0], 'Hi')
    if (streamed) t.equal(texts[1], 'one two ')
    t.equal(texts.at(-1), 'Hello from the double.')
  }
  const { balance, effective } = await organization.balance()
  t.equal(balance, effective)
})

t.test('on_disconnect: "cancel" while the turn waits in line', async (t) => {
  const { key, provider } = await startChat(t)
  const first = held()
  provider.next(first.reply)
  const session_id = 'line'
  const running = await key.stream({ messages: user('One'), session_id })
  await running.until(isToken)
  const leaving = new AbortController()
  const stream = await key.stream(
    { messages: user('Two'), session_id, stream_options: { on_disconnect: 'cancel' } },
    { signal: leaving.signal },
  )
  leaving.abort()
  await stream.all().catch(() => undefined)
  first.go()
  await running.all()
  await key.chat({ messages: user('Three'), session_id })
  t.strictSame(await contents(key, session_id), [
    'One',
    text,
    'Two',
    'Three',
    'Hello from the double.',
  ])
  t.equal(provider.requests.length, 2)
})

t.test('credits are reserved when a run starts and settled when it ends', async (t) => {
  const { key, provider, organization } = await startChat(t)
  const first = held()
  provider.next({ ...first.reply, usage: { prompt_tokens: 10, completion_tokens: 4 } })
  const stream = await key.stream({ messages: user('Hi') })
  await stream.until(isToken)
  const during = await organization.balance()
  t.equal(during.balance, 100)
  t.ok(during.effective < during.balance, 'held back while it runs')
  first.go()
  await stream.all()
  t.strictSame(await organization.balance(), { balance: 99.999935, effective: 99.999935 })
})

t.test('a session of somebody else takes no place in its line', async (t) => {
  const { key, provider, organization } = await startChat(t)
  const first = held()
  provider.next(first.reply)
  const session_id = 'busy'
  const running = await key.stream({ messages: user('One'), session_id })
  await running.until(isToken)
  const other = await organization.key()
  const refused = await other.chat({ messages: user('Hi'), session_id })
  t.match(refused, { status: 404, code: 'session_not_found' }, 'refused without waiting')
  const streamed = await other.stream({ messages: user('Hi'), session_id })
  t.equal(streamed.status, 404)
  await streamed.reply.text()
  first.go()
  await running.all()
  const again = await key.attach(session_id)
  t.equal(textOf((await again.all()).slice(0, -1)), text, 'and leaves the last turn as it is')
})
