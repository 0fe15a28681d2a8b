import t, { type Test } from 'tap'
import { contents, isToken, user } from '../support/client.ts'
import { held } from '../support/held.ts'
import { providerDouble } from '../support/provider-double.ts'
import { startServer } from '../support/server.ts'

// Several lives of a server.
t.setTimeout(120_000)

const started = async (t: Test) => {
  const provider = await providerDouble()
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
  const reply = server.as(key).chat({ messages: user('Hi'), session_id: 'whole' })
  await provider.received(2)
  const stopped = server.stop()
  await t.rejects(async () => {
    for (let n = 0; n < 500; n++) await fetch(`${server.url}/api/health`, { keepalive: false })
  }, 'nobody is let in any more')
  first.go()
  second.go()
  t.equal((await stream.all()).at(-1)?.data, '[DONE]')
  t.equal((await reply).body.choices[0].message.content, second.text)
  t.equal(await stopped, 0)
  await server.restart()
  t.strictSame(await contents(server.as(key), 'streamed'), ['Hi', first.text])
  t.strictSame(await contents(server.as(key), 'whole'), ['Hi', second.text])
})

t.test(
  'SIGTERM: exit 0 within 10 s, and what did not end is handed over to the next start',
  async (t) => {
    const { provider, server } = await started(t)
    const organization = await server.platform.organization()
    const { key } = await organization.key()
    provider.next({ text: 'one two three', stallAfter: 3 })
    const stream = await server.as(key).stream({ messages: user('Hi'), session_id: 'long' })
    await stream.until(isToken)
    const stopped = server.stop()
    const items = await stream.all()
    t.match(items.at(-2)?.data, { error: { code: 'service_unavailable' } })
    t.equal(items.at(-1)?.data, '[DONE]')
    t.equal(await stopped, 0, 'a process that takes longer exits with 1')
    const next = held()
    provider.next(next.reply)
    await server.restart()
    await provider.received(2)
    const followed = await server.as(key).attach('long')
    await followed.until(({ data }) => data.event === 'run_resumed')
    next.go()
    t.equal((await followed.all()).at(-1)?.data, '[DONE]')
    t.strictSame(await contents(server.as(key), 'long'), ['Hi', next.text])
    const path = `/organizations/${organization.organizationId}/audit/events?limit=500`
    const { events } = await server.platform.ask('GET', path)
    t.equal(events.filter(({ type }: { type: string }) => type === 'RunHandedOver').length, 1)
    t.match((await server.as(key).status('long')).body, { is_processing: false })
    t.equal((await server.as(key).chat({ messages: user('Next'), session_id: 'long' })).status, 200)
  },
)
