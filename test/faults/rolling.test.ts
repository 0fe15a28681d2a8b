import { OpenAI } from 'openai'
import t, { type Test } from 'tap'
import { client, contents, isToken, textOf } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { needsMongo } from '../support/mongo.ts'
import { startNodes } from '../support/nodes.ts'
import {
  callReply,
  countingWorld,
  lastAnswer,
  neverAnswered,
  workerOn,
} from '../support/run-world.ts'
import { type StartedServer, startServer } from '../support/server.ts'
import { wayTo } from '../support/way-to.ts'

// Servers live several lives, and leases run out.
t.setTimeout(300_000)

/** OpenAI's package on the way to whichever server is up; it repeats requests by itself. */
const stockClient = async (t: Test, key: string, servers: readonly StartedServer[]) => {
  const port = await wayTo(t, () => servers.map(({ url }) => url))
  const url = `http://127.0.0.1:${port}`
  const openai = new OpenAI({
    apiKey: key,
    baseURL: `${url}/api/external/v1`,
    maxRetries: 30,
  })
  return {
    own: client(url, key),
    /** The text of a whole answer. */
    async complete(body: object): Promise<string | null | undefined> {
      const request = { model: 'svc-orchestrator', messages: [], ...body }
      const { choices } = await openai.chat.completions.create(request)
      return choices[0]?.message.content
    },
  }
}

t.test('SIGKILL: the repeats of a stock client join the run that goes on', async (t) => {
  const world = await countingWorld(t)
  const { provider, tools, env } = world
  const server = await startServer(t, env)
  const { key, turnOf, roundsOf, history } = await workerOn(server, world)
  const { complete } = await stockClient(t, key, [server])
  provider.next(callReply('pay'), neverAnswered)
  const completion = complete(turnOf('s'))
  await provider.received(2)
  await server.kill9()
  await server.restart()
  t.equal(await completion, lastAnswer)
  t.strictSame(roundsOf('s'), [0, 1, 1])
  t.equal(tools.timesOf('/pay'), 1)
  t.strictSame(await contents(server.as(key), 's'), ['s', lastAnswer])
  const { count } = await history(server)
  t.equal(count('RunStarted'), 1)
  t.equal(count('RunResumed'), 1)
  t.equal(count('CreditsSettled'), 1)
})

t.test(
  'a rolling restart: the other server resumes the runs of all kinds of clients',
  needsMongo,
  async (t) => {
    const world = await countingWorld(t)
    const { provider, tools, env } = world
    const { first, second } = await startNodes(t, env)
    const { key, turnOf, organization, roundsOf, history } = await workerOn(first, world)
    const { complete, own } = await stockClient(t, key, [first, second])

    // One waits for a model after a tool, one for a tool that takes a key, one is streamed.
    provider.next(callReply('pay'), neverAnswered)
    const stock = complete(turnOf('stock'))
    await provider.received(2)
    tools.hold('/order')
    provider.next(callReply('order'))
    const headers = { 'idempotency-key': 'keyed' }
    const keyed = own.chat(turnOf('keyed'), { headers })
    await tools.received('/order', 1)
    provider.next(callReply('look'), {
      text: 'one two',
      hold: { after: 2, until: new Promise(() => undefined) },
    })
    const stream = await own.stream(turnOf('streamed'))
    const before = await stream.until(isToken)

    const stopped = first.stop()
    t.match((await stream.all()).at(-2)?.data, { error: { code: 'service_unavailable' } })
    tools.letGo()
    t.equal(await stopped, 0)
    t.match(await keyed, { status: 503, code: 'service_unavailable' })
    t.equal(await stock, lastAnswer)
    const again = await own.chat(turnOf('keyed'), { headers })
    t.match(again, { status: 200, body: { choices: [{ message: { content: lastAnswer } }] } })
    const followed = await own.attach('streamed', { headers: { 'last-event-id': before.id } })
    const items = await followed.all()
    t.match(items[0]?.data, { event: 'run_resumed', attempt: 2 })
    t.equal(textOf(items.slice(0, -1)), lastAnswer)
    t.equal(items.at(-1)?.data, '[DONE]')

    await first.restart()
    for (const client of [first.as(key), second.as(key)])
      for (const session of ['stock', 'keyed', 'streamed'])
        t.strictSame(await contents(client, session), [session, lastAnswer])
    t.strictSame(roundsOf('stock'), [0, 1, 1])
    t.strictSame(roundsOf('keyed'), [0, 1])
    t.strictSame(roundsOf('streamed'), [0, 1, 1])
    t.equal(tools.timesOf('/pay'), 1)
    t.equal(tools.timesOf('/look'), 1)
    t.equal(tools.timesOf('/order'), 2, 'what was cut off is called again with its key')

    // Killed, the first says nothing.
    const { complete: completeAgain } = await stockClient(t, key, [first, second])
    provider.next(callReply('pay'), neverAnswered)
    const killed = completeAgain(turnOf('killed'))
    await eventually(async () => roundsOf('killed').length === 2)
    await first.kill9()
    t.equal(await killed, lastAnswer)
    t.strictSame(roundsOf('killed'), [0, 1, 1])
    t.equal(tools.timesOf('/pay'), 2)

    const { count, events } = await history(second)
    t.equal(count('RunStarted'), 4)
    t.equal(count('RunHandedOver'), 3)
    t.equal(count('RunResumed'), 4)
    t.equal(count('RunCompleted'), 4)
    const settled = events.filter(({ type }) => type === 'CreditsSettled')
    t.equal(settled.length, 4)
    t.equal(new Set(settled.map(({ data }) => data.runId)).size, 4, 'each run is settled once')
    const { balance, effective } = await second.platform.balanceOf(organization.ownerId)
    t.equal(balance, effective, 'no credits are held')
  },
)
