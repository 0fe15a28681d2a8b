import t from 'tap'
import { type Client, contents, textOf, user } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { held } from '../support/held.ts'
import { needsMongo } from '../support/mongo.ts'
import { startNodes } from '../support/nodes.ts'
import { callReply, countingWorld, lastAnswer, workerOn } from '../support/run-world.ts'

// Leases run out meanwhile.
t.setTimeout(300_000)

const sdk = (retries: number) => ({
  headers: { 'x-stainless-retry-count': String(retries), 'x-stainless-lang': 'js' },
})
const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })
const answerOf = ({ body }: { body: { choices?: { message: { content: string } }[] } }) =>
  body.choices?.[0]?.message.content

t.test(
  'a server that is paused amid its runs loses them, and adds nothing to them when it wakes',
  needsMongo,
  async (t) => {
    const world = await countingWorld(t)
    const { provider, tools, env } = world
    const { first, second } = await startNodes(t, env)
    const { key, turnOf, organization, roundsOf, history } = await workerOn(first, world)
    const on = { first: first.as(key), second: second.as(key) }

    // It waits for a model in one session, and for a tool in each of the others.
    const [early, late] = [held(), held()]
    provider.next(callReply('pay'), early.reply)
    const streamed = await on.first.stream(turnOf('model'))
    await provider.received(2)
    tools.hold('/order', '/pay', '/charge')
    provider.next(callReply('order'))
    const ordered = on.first.chat(turnOf('order'), keyed('order'))
    await tools.received('/order', 1)
    provider.next(callReply('pay'))
    const paid = on.first.chat(turnOf('pay'), sdk(0))
    await tools.received('/pay', 2)
    provider.next(callReply('charge'))
    const charged = on.first.chat(turnOf('charge'))
    await tools.received('/charge', 1)

    process.kill(first.pid, 'SIGSTOP')
    tools.letGo()
    /**
     * What the second server answers in place of refusals, which say that the first still counts as
     * alive.
     */
    const atSecond = (ask: (on: Client) => ReturnType<Client['chat']>) =>
      eventually(async () => {
        const reply = await ask(on.second)
        if (reply.status === 200) return reply
        t.match(reply, { status: 503, code: 'service_unavailable' })
        return undefined
      })
    provider.next(late.reply)
    const followed = await eventually(async () => {
      const stream = await on.second.attach('model')
      return stream.status === 200 ? stream : undefined
    })
    await followed.until(({ data }) => data.choices?.[0]?.delta.content === 'one ')
    const [order, pay] = [
      await atSecond((on) => on.chat(turnOf('order'), keyed('order'))),
      await atSecond((on) => on.chat(turnOf('pay'), sdk(1))),
    ]
    t.equal(answerOf(order), lastAnswer)
    t.equal(answerOf(pay), lastAnswer)
    await (await on.second.attach('charge')).all()
    const doubt = (await on.second.status('charge')).body.in_doubt[0]

    process.kill(first.pid, 'SIGCONT')
    early.go()
    const items = await streamed.all()
    t.match(items.at(-2)?.data, { error: { code: 'service_unavailable' } })
    t.equal(items.at(-1)?.data, '[DONE]')
    for (const reply of [ordered, paid, charged])
      t.match(await reply, { status: 503, code: 'service_unavailable' })
    late.go()
    const rest = await followed.all()
    t.equal(rest.at(-1)?.data, '[DONE]')
    t.equal(textOf(rest.slice(0, -1)), 'two three four.')

    const path = `/api/external/sessions/charge/runs/${doubt.run_id}/tools/${doubt.tool_id}/outcome`
    const done = { outcome: 'done', result: 'Charged.' }
    t.match(await on.first.ask('POST', path, done), { status: 200 })
    await eventually(async () => {
      const { body } = await on.second.status('charge')
      return !body.is_processing && !body.state
    })

    for (const client of [on.first, on.second]) {
      t.equal(answerOf(await client.chat(turnOf('order'), keyed('order'))), lastAnswer)
      t.strictSame(await contents(client, 'model'), ['model', late.text])
      for (const session of ['order', 'pay', 'charge'])
        t.strictSame(await contents(client, session), [session, lastAnswer])
    }
    t.strictSame(roundsOf('model'), [0, 1, 1], 'only what was under way is asked for again')
    for (const session of ['order', 'pay', 'charge'])
      t.strictSame(roundsOf(session), [0, 1], session)
    t.equal(tools.timesOf('/pay'), 2, 'once in each of two runs')
    t.equal(tools.timesOf('/charge'), 1)
    const keys = tools.requests.filter((call) => call.path === '/order')
    t.equal(keys.length, 2)
    t.equal(new Set(keys.map(({ headers }) => headers['idempotency-key'])).size, 1)

    const { events, count } = await history(second)
    t.equal(count('RunResumed'), 5, 'one of them after what was in doubt was told')
    t.equal(count('RunCompleted'), 4)
    t.equal(count('AssistantMessageRecorded'), 4)
    const settled = events.filter(({ type }) => type === 'CreditsSettled')
    t.equal(settled.length, 4)
    t.equal(new Set(settled.map(({ data }) => data.runId)).size, 4, 'each run is settled once')
    t.equal(count('ReservationReleased'), count('CreditsReserved') - 4)
    const { balance, effective } = await second.platform.balanceOf(organization.ownerId)
    t.equal(balance, effective, 'no credits are held')

    let n = 0
    for (const client of [on.second, on.first, on.second])
      t.match(await client.chat({ ...turnOf('model'), messages: user(`next ${++n}`) }), {
        status: 200,
      })
    const texts = [
      'model',
      late.text,
      'next 1',
      lastAnswer,
      'next 2',
      lastAnswer,
      'next 3',
      lastAnswer,
    ]
    for (const client of [on.first, on.second]) t.strictSame(await contents(client, 'model'), texts)
  },
)
