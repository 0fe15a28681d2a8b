import t, { type Test } from 'tap'
import { contents, eventsOf, textOf } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import type { Received, Reply } from '../support/provider-double.ts'
import {
  ask,
  callReply,
  countingWorld,
  neverAnswered as heldReply,
  lastAnswer as text,
  workerOn,
} from '../support/run-world.ts'
import { startServer } from '../support/server.ts'

// Several lives of a server.
t.setTimeout(300_000)

/** A server whose agent has tools that read, write, and write with a key. */
const started = async (t: Test) => {
  const world = await countingWorld(t)
  const server = await startServer(t, world.env)
  return { ...world, server, ...(await workerOn(server, world)) }
}

t.test('killed at each boundary of a run: it goes on from what is recorded', async (t) => {
  const world = await started(t)
  const { provider, tools, server, organization, key, turnOf, roundsOf, history } = world
  const client = server.as(key)
  tools.hold('/look', '/pay', '/order')
  const replies: Promise<unknown>[] = []
  let requests = 0

  provider.next(heldReply)
  replies.push(ask(client, turnOf('model-asked')))
  await provider.received(++requests)

  for (const name of ['look', 'pay', 'order']) {
    provider.next(callReply(name))
    replies.push(ask(client, turnOf(`${name}-called`), `key-of-${name}`))
    await tools.received(`/${name}`, 1)
    requests++
  }
  tools.letGo()
  provider.next(callReply('pay'), heldReply)
  replies.push(ask(client, turnOf('pay-answered'), 'key-of-answered'))
  await provider.received(requests + 2)

  await server.kill9()
  await Promise.all(replies)
  await server.restart()
  const after = server.as(key)

  const sessions = ['model-asked', 'look-called', 'pay-called', 'order-called', 'pay-answered']
  await eventually(async () => {
    for (const session of sessions) {
      const { body } = await after.status(session)
      if (body.is_processing) return undefined
    }
    return true
  })
  for (const session of sessions)
    t.strictSame(await contents(after, session), [session, text], session)

  t.strictSame(roundsOf('model-asked'), [0, 0], 'an answer that was not there is asked for again')
  t.strictSame(roundsOf('look-called'), [0, 1], 'a recorded answer is not')
  t.strictSame(roundsOf('pay-called'), [0, 1])
  t.strictSame(roundsOf('order-called'), [0, 1])
  t.strictSame(roundsOf('pay-answered'), [0, 1, 1])
  t.equal(tools.timesOf('/look'), 2, 'what reads is called again')
  t.equal(tools.timesOf('/pay'), 2, 'what writes is called once in each of two runs')
  const keys = tools.requests
    .filter(({ path }) => path === '/order')
    .map(({ headers }) => headers['idempotency-key'])
  t.equal(keys.length, 2)
  t.equal(keys[0], keys[1], 'what takes a key is called again with the same')

  const sentContents = (session: string) =>
    provider.requests
      .findLast(({ body }) => body.messages.some(({ content }) => content === session))
      ?.body.messages.map(({ content }) => content)
  t.match(sentContents('pay-called')?.at(-1), /^Error: it is not known whether this was done/)
  t.match(sentContents('pay-answered')?.at(-1), /done/)
  t.match(sentContents('pay-called')?.join(), /Rule of pay-called/, 'what the request said is kept')

  const { balance, effective } = await server.platform.balanceOf(organization.ownerId)
  t.equal(balance, effective, 'no credits are held')

  const { events, count } = await history(server)
  t.equal(count('RunResumed'), 5)
  t.equal(count('RunCompleted'), 5)
  const done = events.find(({ type }) => type === 'ToolCompleted')
  const { host } = new URL(tools.url)
  t.match(done?.data, { host, httpStatus: 200, outcome: 'ok', durationMs: Number })
  t.equal(count('CreditsSettled') + count('ReservationReleased'), 5, 'each run is settled once')

  const repeated = await after.chat(turnOf('pay-called'), {
    headers: { 'idempotency-key': 'key-of-pay' },
  })
  t.equal(repeated.body.choices[0].message.content, text, 'a repeated request has the one answer')
  t.equal(roundsOf('pay-called').length, 2)
})

t.test('a repeated idempotency key is answered by the run that goes on, and says so', async (t) => {
  const { provider, tools, server, key, turnOf, roundsOf } = await started(t)
  const keyed = (name: string) => ({ headers: { 'idempotency-key': name } })
  /** As stock SDKs send a request, and send it again. */
  const counted = (retries: number) => ({
    headers: { 'idempotency-key': 'counted', 'x-stainless-retry-count': `${retries}` },
  })
  const replayed = ({ headers }: { headers: Headers }) => headers.get('idempotency-replayed')
  const look = { text: 'Let me look. ', calls: [{ name: 'look', arguments: {} }] }
  provider.next(look, look, look, look)
  tools.hold('/look')
  const before = server.as(key)
  const stream = await before.stream(turnOf('streamed'), keyed('streamed'))
  const replies = [
    ask(before, turnOf('whole'), 'whole'),
    ask(before, turnOf('later'), 'later'),
    before.chat(turnOf('counted'), counted(0)).catch(() => undefined),
    stream.all().catch(() => undefined),
  ]
  await tools.received('/look', 4)
  await server.kill9()
  await Promise.all(replies)
  await server.restart()
  const after = server.as(key)
  await tools.received('/look', 8)

  const joined = await after.stream(turnOf('streamed'), keyed('streamed'))
  t.equal(replayed(joined), 'true', 'a stream')
  const first = await joined.frames.next()
  t.match(first.value, { data: { event: 'run_resumed', attempt: 2 } }, 'while the run goes on')
  const reply = after.chat(turnOf('whole'), keyed('whole'))
  const sentAgain = after.chat(turnOf('counted'), counted(1))
  tools.letGo()
  const answer = `Let me look. \n\n${text}`
  const frames = await joined.all()
  t.equal(textOf(frames.slice(0, -1)), answer)
  t.equal(replayed(await reply), 'true', 'a whole answer')
  t.equal(replayed(await sentAgain), 'true', 'of a client that counts its repetitions')
  await eventually(async () => !(await after.status('later')).body.is_processing || undefined)
  t.equal(replayed(await after.chat(turnOf('later'), keyed('later'))), 'true', 'once it has ended')
  const [firstFrame] = frames
  const attached = await (await after.attach('streamed')).all()
  t.ok(
    attached.some(({ data }) => data.id && data.id === firstFrame?.data.id),
    'it is that run',
  )

  await server.kill9()
  await server.restart()
  const again = await server.as(key).stream(turnOf('streamed'), keyed('streamed'))
  t.match([again.status, replayed(again)], [200, 'true'], 'and in the life after')
  t.equal(textOf((await again.all()).slice(0, -1)), answer)
  for (const session of ['streamed', 'whole', 'later', 'counted'])
    t.equal(roundsOf(session).length, 2, `${session}: nothing is done twice`)
})

t.test('who follows it is told, and has the turn from its start', async (t) => {
  const world = await started(t)
  const { provider, tools, server, key, turnOf } = world
  provider.next({ text: 'Let me look. ', calls: [{ name: 'look', arguments: {} }] })
  tools.hold('/look')
  const stream = await server.as(key).stream(turnOf('s'))
  await tools.received('/look', 1)
  const before = await stream.until(({ data }) => data.event === 'tool_started')
  await server.kill9()
  await stream.all().catch(() => undefined)
  await server.restart()
  const after = server.as(key)
  await tools.received('/look', 2)

  const place = { headers: { 'last-event-id': before.id } }
  const followed = await after.attach('s', place)
  const retried = after.chat(turnOf('s'), {
    headers: { 'x-stainless-retry-count': '1', 'x-stainless-lang': 'js' },
  })
  void retried.catch(() => undefined)
  const resumed = await followed.frames.next()
  t.match(resumed.value, { data: { event: 'run_resumed', attempt: 2 } })
  t.match((await followed.frames.next()).value, {
    data: { choices: [{ delta: { role: 'assistant' } }] },
  })
  await server.kill9()
  tools.letGo()
  await server.restart()
  const last = server.as(key)
  const frames = await (
    await last.attach('s', { headers: { 'last-event-id': resumed.value.id } })
  ).all()
  t.match(eventsOf(frames)[0], { event: 'run_resumed', attempt: 3 })
  t.equal(textOf(frames.slice(0, -1)), `Let me look. \n\n${text}`)
  t.equal(frames.at(-1)?.data, '[DONE]')
})

t.test('after three attempts it is interrupted', async (t) => {
  const { provider, server, key, turnOf, organization, history } = await started(t)
  provider.next(heldReply, heldReply, heldReply)
  for (let life = 1; life <= 3; life++) {
    if (life === 1) void ask(server.as(key), turnOf('s'))
    await provider.received(life)
    await server.kill9()
    await server.restart()
  }
  const { body } = await server.as(key).status('s')
  t.equal(body.is_processing, false)
  t.equal(provider.requests.length, 3)
  const { events } = await history(server)
  const failed = events.filter(({ type }) => type === 'RunFailed')
  t.match(failed, [{ data: { code: 'interrupted', cause: 'it was tried as often as a run is' } }])
  t.equal((await server.as(key).chat(turnOf('s'))).status, 200)
  const { balance, effective } = await server.platform.balanceOf(organization.ownerId)
  t.equal(balance, effective)
})

t.test('killed again and again, a run that records a step each time goes on', async (t) => {
  const results = ({ messages }: Received['body']) =>
    messages.filter(({ role }) => role === 'tool').length
  let rounds = 0
  /** The first request of each round is never answered. */
  const answers = (body: Received['body']): Reply => {
    if (results(body) < rounds) return callReply('look')
    rounds++
    return heldReply
  }
  const world = await countingWorld(t, answers)
  const server = await startServer(t, world.env)
  const { key, turnOf, history, roundsOf } = await workerOn(server, world)
  const { provider } = world
  const lives = 5
  void ask(server.as(key), turnOf('s'))
  for (let life = 1; life < lives; life++) {
    await provider.received(2 * life - 1)
    await server.kill9()
    await server.restart()
  }
  await provider.received(2 * lives - 1)
  rounds = Number.POSITIVE_INFINITY
  await server.kill9()
  provider.next({ text })
  await server.restart()
  await eventually(async () => !(await server.as(key).status('s')).body.is_processing || undefined)
  t.strictSame(await contents(server.as(key), 's'), ['s', text])
  t.strictSame(roundsOf('s'), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
  const { count } = await history(server)
  t.equal(count('RunResumed'), lives)
  t.equal(count('RunFailed'), 0)
})
