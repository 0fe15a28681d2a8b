import t from 'tap'
import { nestedLoops } from '../support/nested-loops.ts'
import { startApp, startServer } from '../support/server.ts'

type Server = Awaited<ReturnType<typeof startServer>> | Awaited<ReturnType<typeof startApp>>

/** An organization whose orchestrator hands everything to loops in loops over the offline model. */
const looping = async ({ platform }: Pick<Server, 'platform'>) => {
  const organization = await platform.organization()
  const target = await nestedLoops(organization)
  const key = await organization.key({ rate_limit_minute: 1_000 })
  return { key, target }
}

const requestFor = (target: string) => ({
  messages: [{ role: 'user', content: 'Go on' }],
  target_agent_id: target,
})

t.test('loops in loops end after 100 model calls, and the server answers meanwhile', async (t) => {
  const server = await startApp(t)
  const { key, target } = await looping(server)
  const running = key.chat(requestFor(target))
  t.equal((await fetch(`${server.url}/api/health`)).status, 200)
  t.match(await running, {
    status: 200,
    body: { choices: [{ finish_reason: 'length', message: { content: /Go on/ } }] },
  })
})

t.test('they are cancelled, and the process stops when told to', async (t) => {
  const env = { RUN_MAX_MODEL_CALLS: '10000', RUN_MAX_STEPS: '10000' }
  const server = await startServer(t, env)
  const { key, target } = await looping(server)
  const session = { session_id: 'looping' }
  const running = key.chat({ ...requestFor(target), ...session })
  let cancelled = false
  for (let n = 0; n < 200 && !cancelled; n++)
    cancelled = (await key.ask('POST', '/api/external/sessions/looping/cancel')).body.cancelled
  t.equal(cancelled, true)
  t.match(await running, { status: 409, code: 'turn_cancelled' })
  const again = key.chat({ ...requestFor(target), session_id: 'again' }).catch(() => undefined)
  for (let n = 0; n < 200; n++)
    if ((await key.ask('GET', '/api/external/sessions/again/status')).body.is_processing) break
  t.equal(await server.stop(), 0)
  await again
})
