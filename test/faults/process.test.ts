import t, { type Test } from 'tap'
import { type Client, contents, isToken, textOf, user } from '../support/client.ts'
import { held } from '../support/held.ts'
import { providerDouble, type Reply } from '../support/provider-double.ts'
import { startServer } from '../support/server.ts'

const started = async (t: Test, reply?: Reply) => {
  const provider = await providerDouble(reply)
  t.teardown(provider.close)
  const server = await startServer(t, { LLM_BASE_URL: provider.url, LLM_MODEL: 'test/model' })
  return { provider, server }
}

t.test('SIGTERM lets the running turns end, and their answers reach their clients', async (t) => {
  const { provider, server } = await started(t)
  const organization = await server.platform.organization()
  const { key } = await organization.key()
  const [first, second] = [held(), held()]
  provider.next(first.reply, second.reply)
  const stream = await server.as(key).stream({ messages: user('Hi'), session_id: 'streamed' })
  await stream.until(isToken)
  const whole = server.as(key).chat({ messages: user('Hi'), session_id: 'whole' })
  await provider.received(2)
  const stopped = server.stop()
  await t.rejects(async () => {
    for (let n = 0; n < 500; n++) await fetch(`${server.url}/api/health`, { keepalive: false })
  }, 'nobody is let in any more')
  first.go()
  second.go()
  t.equal((await stream.all()).at(-1)?.data, '[DONE]')
  t.equal((await whole).body.choices[0].message.content, second.text)
  t.equal(await stopped, 0)
  await server.restart()
  t.strictSame(await contents(server.as(key), 'streamed'), ['Hi', first.text])
  t.strictSame(await contents(server.as(key), 'whole'), ['Hi', second.text])
})

t.test('SIGTERM: exit 0 within 10 s, and what did not end is recorded as cancelled', async (t) => {
  const { provider, server } = await started(t)
  const organization = await server.platform.organization()
  const { key } = await organization.key()
  provider.next({ text: 'one two three', stallAfter: 3 })
  const stream = await server.as(key).stream({ messages: user('Hi'), session_id: 'long' })
  await stream.until(isToken)
  const stopped = server.stop()
  const items = await stream.all()
  t.equal(items.at(-1)?.data, '[DONE]')
  t.equal(await stopped, 0, 'a process that takes longer exits with 1')
  await server.restart()
  t.strictSame(await contents(server.as(key), 'long'), ['Hi', 'one two '])
  t.match((await server.as(key).status('long')).body, { is_processing: false })
  t.equal((await server.as(key).chat({ messages: user('Next'), session_id: 'long' })).status, 200)
})

/** One client of one session: what it was answered, until the connection breaks. */
const worker = async (key: Client, session_id: string, acknowledged: (said: string) => void) => {
  const said: string[] = []
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
    if (!pair) return said
    said.push(...pair)
    acknowledged(session_id)
  }
}

t.test('kill -9 under load: no answer that was given is lost, none is half there', async (t) => {
  const text = 'one two three four five six'
  const { server } = await started(t, { text, pauseMs: 2 })
  const organizations = []
  for (let n = 0; n < 4; n++) {
    const organization = await server.platform.organization()
    const keys = await Promise.all(Array.from({ length: 8 }, () => organization.key()))
    organizations.push({ ...organization, keys: keys.map(({ key }) => key) })
  }
  for (let round = 1; round <= 3; round++) {
    let acknowledged = 0
    const working = organizations.flatMap(({ keys }, o) =>
      keys.map(async (key, k) => {
        const session = `round-${round}-${o}-${k}`
        const said = await worker(server.as(key), session, () => {
          if (++acknowledged === 100) void server.kill9()
        })
        return { key, session, said }
      }),
    )
    const sessions = await Promise.all(working)
    t.ok(acknowledged >= 100, `round ${round}: ${acknowledged} answers`)
    await server.restart()
    let interrupted = 0
    let wrong = 0
    for (const { key, session, said } of sessions) {
      const client = server.as(key)
      const { status, body } = await client.status(session)
      if (status === 404 && said.length === 0) continue
      const found = await contents(client, session)
      const rest = found.slice(said.length)
      const next = await client.chat({ messages: user('Next'), session_id: session })
      const right =
        !body.is_processing &&
        JSON.stringify(found.slice(0, said.length)) === JSON.stringify(said) &&
        rest.length <= 2 &&
        (rest[1] ?? text) === text &&
        next.status === 200
      if (!right) {
        wrong++
        t.comment(JSON.stringify({ session, said, found, status: body, next: next.body }))
      }
      if (rest.length === 1) interrupted++
    }
    t.equal(wrong, 0, `round ${round}: every session is whole, quiet and goes on`)
    t.ok(interrupted > 0, `round ${round}: ${interrupted} runs were cut off`)
    for (const { organizationId, ownerId } of organizations) {
      const { balance, effective } = await server.platform.balanceOf(ownerId)
      t.equal(balance, effective, 'no credits are held')
      const path = `/organizations/${organizationId}/audit/events?limit=500&type=RunFailed`
      const { events } = await server.platform.ask('GET', path)
      const codes = events.map(({ data }: { data: { code: string } }) => data.code)
      t.strictSame(
        codes.filter((code: string) => code !== 'interrupted'),
        [],
        'runs that were cut off are closed as interrupted',
      )
    }
  }
})
