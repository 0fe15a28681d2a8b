import t from 'tap'
import { type Client, contents, textOf, user } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { providerDouble, type Reply } from '../support/provider-double.ts'
import { rounds } from '../support/rounds.ts'
import { startServer } from '../support/server.ts'

/** One client of one session: what it was answered, until the connection breaks. */
const worker = async (
  key: Client,
  session_id: string,
  acknowledged: (sessionId: string) => void,
) => {
  const answers: string[] = []
  const ask = async (n: number) => {
    const question = `${session_id} ${n}`
    const messages = user(question)
    if (n % 2) {
      const { status, body } = await key.chat({ messages, session_id })
      if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
      return [question, body.choices[0].message.content]
    }
    const stream = await key.stream({ messages, session_id })
    const items = await stream.all()
    if (items.at(-1)?.data !== '[DONE]') throw new Error('cut off')
    return [question, textOf(items.slice(0, -1))]
  }
  for (let n = 0; ; n++) {
    const pair = await ask(n).catch(() => undefined)
    if (!pair) return answers
    answers.push(...pair)
    acknowledged(session_id)
  }
}

// Several lives of a server, each of some seconds.
t.setTimeout(300_000)

t.test('kill -9 under load: no answer that was given is lost, none is half there', async (t) => {
  const text = 'one two three four five six'
  const provider = await providerDouble({ text, pauseMs: 2 })
  t.teardown(provider.close)
  const server = await startServer(t, { LLM_BASE_URL: provider.url, LLM_MODEL: 'test/model' })
  // Some answers are held at the provider, so that the kill surely cuts runs off.
  const killAmidRuns = async () => {
    const held: Reply = { text, hold: { after: 3, until: new Promise(() => undefined) } }
    provider.next(held, held, held, held)
    await provider.received(provider.requests.length + 4)
    await server.kill9()
  }
  const organizations = []
  for (let n = 0; n < 4; n++) {
    const organization = await server.platform.organization()
    const keys = await Promise.all(Array.from({ length: 8 }, () => organization.key()))
    organizations.push({ ...organization, keys: keys.map(({ key }) => key) })
  }
  for (let round = 1; round <= rounds(2, 6); round++) {
    let acknowledged = 0
    const working = organizations.flatMap(({ keys }, o) =>
      keys.map(async (key, k) => {
        const session = `round-${round}-${o}-${k}`
        const answers = await worker(server.as(key), session, () => {
          if (++acknowledged === 80) void killAmidRuns()
        })
        return { key, session, answers }
      }),
    )
    const sessions = await Promise.all(working)
    t.ok(acknowledged >= 80, `round ${round}: ${acknowledged} answers`)
    await server.restart()
    let finished = 0
    let wrong = 0
    const look = async ({ key, session, answers }: (typeof sessions)[number]) => {
      const client = server.as(key)
      const idle = await eventually(async () => {
        const status = await client.status(session)
        return status.body.is_processing ? undefined : status
      })
      const { status, body } = idle
      if (status === 404 && answers.length === 0) return
      const stored = await contents(client, session)
      const rest = stored.slice(answers.length)
      const next = await client.chat({ messages: user('Next'), session_id: session })
      if (rest.length === 2) finished++
      const right =
        !body.is_processing &&
        JSON.stringify(stored.slice(0, answers.length)) === JSON.stringify(answers) &&
        (rest.length === 0 || rest.length === 2) &&
        (rest[1] ?? text) === text &&
        next.status === 200
      if (right) return
      wrong++
      t.comment(JSON.stringify({ session, answers, found: stored, status: body, next: next.body }))
    }
    await Promise.all(sessions.map(look))
    t.equal(wrong, 0, `round ${round}: every session is whole, quiet and goes on`)
    t.ok(finished > 0, `round ${round}: ${finished} runs went on`)
    for (const { organizationId, ownerId } of organizations) {
      const { balance, effective } = await server.platform.balanceOf(ownerId)
      t.equal(balance, effective, 'no credits are held')
      const path = `/organizations/${organizationId}/audit/events?limit=500&type=RunFailed`
      const { events } = await server.platform.ask('GET', path)
      t.strictSame(events, [], 'no run has failed')
    }
  }
})
