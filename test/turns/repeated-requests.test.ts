import OpenAI from 'openai'
import t from 'tap'
import type { RunView } from '../../projections/runs.ts'
import { repeatedRequests } from '../../src/turns/repeated-requests.ts'
import { isToken, textOf, user } from '../support/client.ts'
import { held } from '../support/held.ts'
import { movableClock, startChat } from '../support/server.ts'

const messages = user('Hi')
const attempt = (n: number) => ({ headers: { 'x-stainless-retry-count': `${n}` } })

t.test('a retry joins the run that is still going', async (t) => {
  const { key, provider, organization } = await startChat(t)
  const turn = held({ usage: { prompt_tokens: 10, completion_tokens: 4 } })
  provider.next(turn.reply)
  const leaving = new AbortController()
  const first = key.chat({ messages }, { ...attempt(0), signal: leaving.signal })
  await provider.received(1)
  leaving.abort()
  await first.catch(() => undefined)
  const second = key.chat({ messages }, attempt(1))
  await key.sessions()
  turn.go()
  t.equal((await second).body.choices[0].message.content, turn.text)
  t.equal(provider.requests.length, 1)
  t.equal((await organization.balance()).balance, 99.999935, 'charged once')
})

t.test('a retry after its end is answered by the first run', async (t) => {
  const { key, provider, server } = await startChat(t, { text: 'Once.' })
  const first = await key.chat({ messages }, attempt(0))
  t.strictSame((await key.chat({ messages }, attempt(1))).body, first.body)
  await server.restart()
  t.strictSame((await server.as(key.key).chat({ messages }, attempt(2))).body, first.body)
  t.equal(provider.requests.length, 1)
})

t.test('streams', async (t) => {
  const { key, provider, server } = await startChat(t)
  const turn = held()
  provider.next(turn.reply)
  const first = await key.stream({ messages }, attempt(0))
  await first.until(isToken)
  const second = await key.stream({ messages }, attempt(1))
  turn.go()
  const rest = await first.all()
  t.strictSame((await second.all()).slice(-rest.length), rest)
  await server.restart()
  const third = await server.as(key.key).stream({ messages }, attempt(2))
  t.equal(textOf((await third.all()).slice(0, -1)), turn.text)
  t.equal(provider.requests.length, 1)
})

t.test('a first request that does not count its retries', async (t) => {
  const { key, provider, organization } = await startChat(t, { text: 'Once.' })
  const first = await key.chat({ messages })
  t.strictSame((await key.chat({ messages }, attempt(1))).body, first.body)
  const turn = held()
  provider.next(turn.reply)
  const running = await key.stream({ messages })
  await running.until(isToken)
  const second = await key.stream({ messages }, attempt(1))
  turn.go()
  const rest = await running.all()
  t.strictSame((await second.all()).slice(-rest.length), rest)
  t.equal(provider.requests.length, 2)
  const taken = { messages, session_id: 'of-another-key' }
  await (await organization.key()).chat(taken)
  for (const options of [{}, attempt(1)])
    t.equal((await key.chat(taken, options)).status, 404, 'what was refused did not begin')
})

t.test('a retry after a failure runs again', async (t) => {
  const { key, provider } = await startChat(t, { text: 'Now.' })
  provider.next({ status: 400 })
  t.equal((await key.chat({ messages }, attempt(0))).status, 500)
  const second = await key.chat({ messages }, attempt(1))
  t.equal(second.body.choices[0].message.content, 'Now.')
  t.strictSame((await key.chat({ messages }, attempt(2))).body, second.body)
  t.equal(provider.requests.length, 2)
})

t.test('what is no retry runs', async (t) => {
  const clock = movableClock()
  const { key, provider, organization } = await startChat(t, { text: 'Each.' }, { clock })
  await key.chat({ messages }, attempt(0))
  await key.chat({ messages }, attempt(0))
  t.equal(provider.requests.length, 2, 'the same body again, as a first attempt')
  await key.chat({ messages: user('Other') }, attempt(1))
  t.equal(provider.requests.length, 3, 'another body')
  await (await organization.key()).chat({ messages }, attempt(1))
  t.equal(provider.requests.length, 4, 'another key')
  await key.chat({ messages })
  t.equal(provider.requests.length, 5, 'another client')
  clock.advance(600_001)
  await key.chat({ messages }, attempt(1))
  t.equal(provider.requests.length, 6, 'after 10 minutes')
})

t.test('the stock SDK, whose connection broke, is charged once', async (t) => {
  const { key, provider, server, organization } = await startChat(t)
  const turn = held({ usage: { prompt_tokens: 10, completion_tokens: 4 } })
  provider.next(turn.reply)
  let asked = 0
  /** The first connection breaks once the turn is under way, which ends only after that. */
  const breaking: typeof fetch = async (url, init) => {
    if (++asked > 1) {
      turn.go()
      return fetch(url, init)
    }
    const connection = new AbortController()
    const broken = fetch(url, { ...init, signal: connection.signal })
    void provider.received(1).then(() => connection.abort())
    return broken
  }
  const openai = new OpenAI({
    apiKey: key.key,
    baseURL: `${server.url}/api/external/v1`,
    maxRetries: 2,
    fetch: breaking,
  })
  const { choices } = await openai.chat.completions.create({
    model: 'svc-orchestrator',
    messages: [{ role: 'user', content: 'Hi' }],
  })
  t.equal(asked, 2)
  t.equal(choices[0]?.message.content, turn.text)
  t.equal(provider.requests.length, 1)
  t.equal((await organization.balance()).balance, 99.999935)
})

t.test('that there was none is said once the views show all there is', async (t) => {
  const run = { run_id: 'run-1' } as RunView
  let shown: RunView | undefined
  let isBehind = false
  const { runFor } = repeatedRequests({
    turns: { find: () => undefined },
    findRun: async () => undefined,
    findRepeatedRun: async () => shown,
    areCaughtUp: async () => {
      if (!isBehind) shown = run
      return !isBehind
    },
    clock: movableClock(),
  })
  t.equal(await runFor('print'), 'run-1', 'of a process that has just died')
  shown = undefined
  isBehind = true
  await t.rejects(runFor('print'), { code: 'service_unavailable' })
})
