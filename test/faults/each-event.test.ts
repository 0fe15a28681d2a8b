import t from 'tap'
import { contents } from '../support/client.ts'
import { eventStoreDbDouble } from '../support/eventstoredb-double/double.ts'
import { eventually } from '../support/eventually.ts'
import type { Received, Reply } from '../support/provider-double.ts'
import { rounds } from '../support/rounds.ts'
import { countingWorld, lastAnswer, workerOn } from '../support/run-world.ts'
import { startServer } from '../support/server.ts'

// A life of the server for each kind of event.
t.setTimeout(400_000)

/** The number of tool results in a request, which differs for each round. */
const resultsIn = ({ messages }: Received['body']): number =>
  messages.filter(({ role }) => role === 'tool').length
/** By round. */
const results = [0, 3, 4]

const call = (name: string) => ({ name, arguments: { order: 'A-1' } })
const answers = (body: Received['body']): Reply => {
  const round = results.indexOf(resultsIn(body))
  if (round === 0) return { calls: ['look', 'pay', 'order'].map(call) }
  return round === 1 ? { text: 'I ask.', calls: [call('refund')] } : { text: lastAnswer }
}

/**
 * Some are appended together. Hand-overs, outcomes that are told and forks are in
 * tests of their own.
 */
const all = [
  'RunStarted',
  'ToolCompleted',
  'ApprovalDecided',
  'RunCompleted',
  'CreditsReserved',
  'AgentStarted',
  'ModelAnswered',
  'ToolStarted',
  'ApprovalRequested',
  'RunPaused',
  'RunResumed',
  'CreditsSettled',
]
const kinds = all.slice(0, rounds(3, all.length))

t.test(
  'killed once each kind of event is on disk: the run ends, and nothing is done twice',
  async (t) => {
    const store = await eventStoreDbDouble({ neighbours: false })
    t.teardown(store.stop)
    const world = await countingWorld(t, answers)
    const { provider, tools, env } = world
    const server = await startServer(t, { ...env, EVENTSTORE_URL: store.url })
    const { key, turnOf, organization, history } = await workerOn(server, world)
    const ofSession = (type: string, session: string) =>
      store.log.all.filter((event) => event.type === type && event.stream.endsWith(session)).length

    for (const kind of kinds) {
      const session = `killed-at-${kind}`
      const isOf = ({ body }: Received) => body.messages.some(({ content }) => content === session)
      const before = { pay: tools.timesOf('/pay'), refund: tools.timesOf('/refund') }
      const looked = tools.timesOf('/look')
      const ordered = tools.requests.length
      let recorded = 0
      let requestsBefore = 0
      let dying: Promise<unknown> | undefined
      void store
        .committed(({ type }) => type === kind)
        .then(() => {
          process.kill(server.pid, 'SIGKILL')
          recorded = ofSession('ModelAnswered', session)
          requestsBefore = provider.requests.filter(isOf).length
          dying = server.kill9()
        })
      /** Asks again, of the next life, where the server is gone. */
      const surely = async <T>(ask: () => Promise<T>): Promise<T> => {
        for (;;) {
          const reply = await ask().catch(() => undefined)
          if (reply) return reply
          await dying
          await server.restart()
        }
      }
      const chat = () =>
        surely(() =>
          server.as(key).chat(turnOf(session), { headers: { 'idempotency-key': session } }),
        )
      const paused = await chat()
      t.match(paused, { status: 200 }, kind)
      for (const { approval_id, arguments_digest } of paused.body.pending_approvals ?? []) {
        const decision = { decision: 'approve', arguments_digest }
        const decided = await surely(() =>
          server.as(key).ask('POST', `/api/external/approvals/${approval_id}`, decision),
        )
        t.ok(decided.status === 200 || decided.code === 'approval_decided', kind)
      }
      const followed = await surely(async () => (await server.as(key).attach(session)).all())
      t.equal(followed.at(-1)?.data, '[DONE]', kind)
      await dying
      t.ok(dying, `${kind}: it was killed`)
      if (kind === 'RunCompleted' || kind === 'CreditsSettled')
        await server.restart().catch(() => undefined)
      t.strictSame(
        await contents(server.as(key), session),
        [session, `I ask.\n\n${lastAnswer}`],
        kind,
      )

      const again = provider.requests.filter(isOf).slice(requestsBefore)
      const known = results.slice(0, recorded)
      t.notOk(
        again.some(({ body }) => known.includes(resultsIn(body))),
        `${kind}: no recorded answer is asked for again`,
      )
      t.ok(tools.timesOf('/pay') - before.pay <= 1, `${kind}: what writes is called at most once`)
      t.ok(tools.timesOf('/refund') - before.refund <= 1, `${kind}: and so is what was approved`)
      t.ok(tools.timesOf('/look') - looked <= 2, kind)
      const keys = tools.requests
        .slice(ordered)
        .filter(({ path }) => path === '/order')
        .map(({ headers }) => headers['idempotency-key'])
      t.equal(new Set(keys).size, 1, `${kind}: each call of what takes a key has the same`)
      for (const type of ['RunStarted', 'RunCompleted', 'ApprovalRequested'])
        t.equal(ofSession(type, session), 1, `${kind}: ${type}`)
    }

    // What was cut off between a run's end and its charge is charged by the recurring work.
    const settled = await eventually(async () => {
      const { events } = await history(server)
      const settlements = events.filter(({ type }) => type === 'CreditsSettled')
      return settlements.length >= kinds.length ? settlements : undefined
    })
    t.equal(settled.length, kinds.length)
    t.equal(new Set(settled.map(({ data }) => data.runId)).size, kinds.length)
    const { balance, effective } = await server.platform.balanceOf(organization.ownerId)
    t.equal(balance, effective, 'no credits are held')
  },
)
