import t, { type Test } from 'tap'
import { contents, isToken, user } from '../support/client.ts'
import { eventStoreDbDouble } from '../support/eventstoredb-double/double.ts'
import { held } from '../support/held.ts'
import { startChat } from '../support/server.ts'

const session_id = 'one'

/** The application over an event store that can go away. */
const overStore = async (t: Test) => {
  const store = await eventStoreDbDouble()
  t.teardown(store.stop)
  // What is away for long is said to be away soon.
  const env = { EVENTSTORE_URL: `${store.url}&defaultDeadline=300` }
  return { store, ...(await startChat(t, undefined, {}, env)) }
}

type Scene = Awaited<ReturnType<typeof overStore>>

/** Until the store is connected again: its client waits before it tries. */
const onceBack = async ({ key }: Scene, content: string) => {
  for (let n = 0; ; n++) {
    const reply = await key.chat({ messages: user(content), session_id })
    if (reply.status === 200 || n === 200) return reply
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

t.test('the store is away when a message comes: 503, nothing held, and it goes on', async (t) => {
  const scene = await overStore(t)
  const { store, key, organization, provider } = scene
  await key.chat({ messages: user('One'), session_id })
  store.stop()
  const refused = await key.chat({ messages: user('Two'), session_id })
  t.match(refused, { status: 503, body: { error: { code: 'service_unavailable' } } })
  const streamed = await key.stream({ messages: user('Two'), session_id })
  const items = await streamed.all()
  t.match(items.at(-2)?.data, { error: { code: 'service_unavailable' } }, 'inside the stream')
  t.equal(items.at(-1)?.data, '[DONE]')
  t.equal(provider.requests.length, 1, 'no model is asked for what cannot be recorded')
  await store.start()
  t.equal((await onceBack(scene, 'Three')).status, 200)
  t.equal((await contents(key, session_id)).at(-2), 'Three')
  const { balance, effective } = await organization.balance()
  t.equal(balance, effective)
})

for (const streamed of [true, false])
  t.test(`the store goes away in mid-run (stream: ${streamed})`, async (t) => {
    const scene = await overStore(t)
    const { store, key, provider, server, organization } = scene
    const turn = held()
    provider.next(turn.reply)
    const body = { messages: user('One'), session_id }
    const stream = streamed ? await key.stream(body) : undefined
    const reply = streamed ? undefined : key.chat(body)
    await stream?.until(isToken)
    await provider.received(1)
    t.match((await key.status(session_id)).body, { is_processing: true })
    store.stop()
    turn.go()
    const error = { code: 'service_unavailable' }
    if (stream) {
      const items = await stream.all()
      t.match(items.at(-2)?.data, { error })
      t.equal(items.at(-1)?.data, '[DONE]')
    } else t.match(await reply, { status: 503, body: { error } })
    await store.start()
    t.equal((await onceBack(scene, 'Two')).status, 200, 'the session is not stuck')
    const texts = await contents(key, session_id)
    t.equal(texts[0], 'One')
    t.strictSame(texts.slice(-2), ['Two', 'Hello from the double.'])
    t.match((await key.status(session_id)).body, { is_processing: false })
    await server.tick()
    await server.tick()
    const { balance, effective } = await organization.balance()
    t.equal(balance, effective, 'nothing is held for the run that was lost')
  })

t.test('the store takes a message and its answer is lost on the way', async (t) => {
  const scene = await overStore(t)
  const { store, key, organization, server } = scene
  await key.chat({ messages: user('One'), session_id })
  store.loseAnswers(Number.POSITIVE_INFINITY, 'cut')
  const lost = await key.chat({ messages: user('Two'), session_id })
  t.equal(lost.status, 503)
  store.loseAnswers(0, 'cut')
  t.equal((await onceBack(scene, 'Three')).status, 200, 'the session is not stuck')
  t.match((await key.status(session_id)).body, { is_processing: false })
  await server.tick()
  await server.tick()
  const { balance, effective } = await organization.balance()
  t.equal(balance, effective)
})
