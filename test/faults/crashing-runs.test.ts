import t from 'tap'
import { deferred } from '../../src/support/deferred.ts'
import { contents } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import type { Received, Reply } from '../support/provider-double.ts'
import {
  ask,
  callReply,
  countingWorld,
  lastAnswer,
  neverAnswered,
  workerOn,
} from '../support/run-world.ts'
import { startServer } from '../support/server.ts'

// Several lives of a server.
t.setTimeout(300_000)

const isOf = ({ messages }: Received['body'], session: string) =>
  messages.some(({ content }) => content === session)
const resultsIn = ({ messages }: Received['body']) =>
  messages.filter(({ role }) => role === 'tool').length

/** The order in which the runs begin, and the crashes until the server knows their cause. */
const orders = [
  { order: ['crashes', 'works', 'waits'], deaths: 3 },
  { order: ['works', 'waits', 'crashes'], deaths: 4 },
]

for (const { order, deaths } of orders)
  t.test(`of ${order.join(', ')} in flight, only the run that crashes is closed`, async (t) => {
    const reply = deferred<void>()
    let crashes = 0
    let isArmed = false
    let isHarmless = false
    const crash = () => {
      crashes++
      server.crash()
    }
    const answers = (body: Received['body']): Reply => {
      if (isOf(body, 'works') && resultsIn(body) === 0) return callReply('look')
      if (isOf(body, 'waits')) return { text: lastAnswer, hold: { after: 0, until: reply.promise } }
      if (isHarmless || !isOf(body, 'crashes')) return { text: lastAnswer }
      if (isArmed) crash()
      return neverAnswered
    }
    const world = await countingWorld(t, answers)
    const { provider, tools } = world
    const server = await startServer(t, world.env)
    const { key, turnOf, organization, history } = await workerOn(server, world)
    const client = () => server.as(key)
    const isBusy = async (session: string) => (await client().status(session)).body.is_processing

    tools.hold('/look')
    for (const [n, session] of order.entries()) {
      void ask(client(), turnOf(session))
      await provider.received(n + 1)
    }
    await tools.received('/look', 1)
    isArmed = true
    crash()

    /** How the next life of the server ends, or the run in it. */
    const nextLife = async (): Promise<'crashed' | 'closed'> => {
      const before = crashes
      await server.restart().catch(() => undefined)
      return eventually(async () => {
        if (crashes > before) return 'crashed'
        return (await isBusy('crashes').catch(() => true)) ? undefined : 'closed'
      })
    }
    while ((await nextLife()) === 'crashed');
    t.equal(crashes, deaths)

    t.equal((await client().chat(turnOf('new'))).status, 200, 'new requests are served meanwhile')
    tools.letGo()
    reply.resolve()
    await eventually(async () => !((await isBusy('works')) || (await isBusy('waits'))) || undefined)
    t.strictSame(await contents(client(), 'works'), ['works', lastAnswer])
    t.strictSame(await contents(client(), 'waits'), ['waits', lastAnswer])
    t.strictSame(await contents(client(), 'crashes'), ['crashes'], 'its message is kept')
    isArmed = false
    isHarmless = true
    t.equal((await client().chat(turnOf('crashes'))).status, 200, 'the next message works')
    const { events, count } = await history(server)
    const failed = events.filter(({ type }) => type === 'RunFailed')
    t.match(failed, [{ data: { code: 'interrupted' } }])
    t.ok(failed[0]?.stream.endsWith('crashes'))
    t.equal(count('RunCompleted'), 4)
    t.equal(count('CreditsSettled'), 4, 'each answer is charged once')
    t.equal(count('ReservationReleased'), 1)
    const { balance, effective } = await server.platform.balanceOf(organization.ownerId)
    t.equal(balance, effective, 'no credits are held')
  })
