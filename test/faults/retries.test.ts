import t, { type Test } from 'tap'
import { type Client, contents, isToken, user } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { held } from '../support/held.ts'
import { needsMongo } from '../support/mongo.ts'
import { startNodes } from '../support/nodes.ts'
import { callReply, countingWorld, lastAnswer, workerOn } from '../support/run-world.ts'
import { startServer } from '../support/server.ts'

// Several lives of a server.
t.setTimeout(300_000)

const responses = '/api/external/v1/responses'
const answerOf = ({ body }: { body: { choices?: { message: { content: string } }[] } }) =>
  body.choices?.[0]?.message.content
const retried = { headers: { 'x-stainless-retry-count': '1' } }

/** What may break. */
const broken = (reply: Promise<unknown>) => reply.catch(() => undefined)

const started = async (t: Test) => {
  const world = await countingWorld(t)
  const server = await startServer(t, world.env)
  return { ...world, server, ...(await workerOn(server, world)) }
}

t.test('after kill -9 one retry gets the interrupted run', async (t) => {
  const { provider, server, key, turnOf, organization, history } = await started(t)
  const turn = held()
  provider.next(turn.reply)
  const first = broken(server.as(key).chat(turnOf('s')))
  await provider.received(1)
  await server.kill9()
  await first
  turn.go()
  await server.restart()

  const after = server.as(key)
  t.equal(answerOf(await after.chat(turnOf('s'))), lastAnswer)
  t.strictSame(await contents(after, 's'), ['s', lastAnswer])
  t.equal(provider.requests.length, 2, 'once in each life')
  const { count } = await history(server)
  t.strictSame([count('RunStarted'), count('RunCompleted'), count('CreditsSettled')], [1, 1, 1])
  const { balance, effective } = await server.platform.balanceOf(organization.ownerId)
  t.equal(balance, effective)

  t.equal(answerOf(await after.chat(turnOf('s'), retried)), lastAnswer)
  t.strictSame(await contents(after, 's'), ['s', lastAnswer, 's', lastAnswer], 'it was delivered')
})

t.test('a retry joins a run that was handed over at SIGTERM', async (t) => {
  const { provider, server, key, turnOf, history } = await started(t)
  const turn = held()
  provider.next(turn.reply)
  const first = broken(server.as(key).chat(turnOf('s')))
  await provider.received(1)
  await server.stop()
  await first
  turn.go()
  await server.restart()
  t.equal(answerOf(await server.as(key).chat(turnOf('s'), retried)), lastAnswer)
  t.equal((await history(server)).count('RunStarted'), 1)
})

t.test('after kill -9 an answer that may have been delivered cannot be claimed', async (t) => {
  const { provider, tools, server, key, turnOf } = await started(t)
  const before = server.as(key)
  const direct = { messages: user('whole') }
  const delivered = await before.chat(direct)

  provider.next(callReply('refund'))
  const waiting = { ...turnOf('waits'), session_id: undefined }
  const paused = await before.chat(waiting)
  const [approval] = paused.body.pending_approvals
  tools.hold('/refund')
  const { arguments_digest } = approval
  const decision = { decision: 'approve', arguments_digest }
  const path = `/api/external/approvals/${approval.approval_id}`
  t.match(await before.ask('POST', path, decision), { status: 200 })
  await tools.received('/refund', 1)

  const turns = [held(), held()]
  provider.next(...turns.map(({ reply }) => reply))
  const stream = await before.stream({ messages: user('stream') })
  await stream.until(isToken)
  const background = { input: 'background', background: true }
  const response = await before.ask('POST', responses, background)
  await eventually(async () => provider.requests.length >= 5 || undefined)
  await server.kill9()
  await broken(stream.all())
  for (const turn of turns) turn.go()
  tools.letGo()
  await server.restart()

  const after = server.as(key)
  const own = await after.chat(direct, retried)
  t.equal(own.status, 200)
  t.not(own.body.session_id, delivered.body.session_id, 'a whole answer')
  const again = await after.chat(waiting, retried)
  t.equal(again.status, 200)
  t.not(again.body.session_id, paused.body.session_id, 'one that waited, and went on')
  const other = await after.ask('POST', responses, background, retried)
  t.equal(other.status, 200)
  t.not(other.body.conversation.id, response.body.conversation.id, 'one in the background')
  const streamed = await after.stream({ messages: user('stream') }, retried)
  await streamed.all()
  const { sessions } = (await after.sessions('?page_size=50')).body
  t.equal(sessions.length, 8, 'a stream')
})

t.test('on two nodes', needsMongo, async (t) => {
  const world = await countingWorld(t)
  const { provider, env } = world
  const { first, second } = await startNodes(t, env)
  const { key, organization, history } = await workerOn(first, world)
  const on = { first: first.as(key), second: second.as(key) }
  const total = async () => (await on.first.sessions()).body.total
  const messages = user('hi')
  let requests = 0

  /** A client of the first node that leaves once its turn is under way. */
  const left = async (body: object) => {
    const turn = held()
    provider.next(turn.reply)
    const leaving = new AbortController()
    const reply = broken(on.first.chat(body, { signal: leaving.signal }))
    await provider.received(++requests)
    leaving.abort()
    await reply
    return turn
  }

  await t.test('a retry on the other node waits for the run and gets its answer', async (t) => {
    const turn = await left({ messages })
    const retry = on.second.chat({ messages }, retried)
    await on.second.sessions()
    turn.go()
    t.equal(answerOf(await retry), turn.text)
    t.equal(await total(), 1)
    t.equal(provider.requests.length, requests)
  })

  await t.test('a retry of a failed request keeps its session on the other node', async (t) => {
    provider.next({ status: 400 })
    const body = { messages: user('fails') }
    t.equal((await on.first.chat(body)).status, 500)
    // The first node has seen that its answer is sent by then.
    await on.first.sessions()
    t.equal(answerOf(await on.second.chat(body, retried)), lastAnswer)
    requests += 2
    t.equal(await total(), 2)
  })

  await t.test('a delivered answer cannot be claimed on the other node', async (t) => {
    const ask = (client: Client) => client.chat({ messages: user('same') }, retried)
    const replies = [await ask(on.first), await ask(on.second), await ask(on.first)]
    replies.push(...(await Promise.all([on.first, on.second, on.first, on.second].map(ask))))
    requests += replies.length
    t.equal(new Set(replies.map(({ body }) => body.session_id)).size, replies.length)
  })

  await t.test('after kill -9 of a node the other one answers the retry', async (t) => {
    const turn = held()
    provider.next(turn.reply)
    const body = { messages: user('killed'), session_id: 'killed' }
    const interrupted = broken(on.first.chat(body))
    await provider.received(++requests)
    await first.kill9()
    await interrupted
    turn.go()
    const reply = await eventually(async () => {
      const retry = await on.second.chat(body, retried)
      return retry.status === 200 ? retry : undefined
    })
    t.equal(answerOf(reply), lastAnswer)
    t.strictSame(await contents(on.second, 'killed'), ['killed', lastAnswer])
    const { count } = await history(second)
    t.equal(count('RunResumed'), 1)
    const { balance, effective } = await second.platform.balanceOf(organization.ownerId)
    t.equal(balance, effective)
  })
})
