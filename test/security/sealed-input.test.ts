import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { z } from 'zod'
import { app } from '../../src/app/app.ts'
import { openStores } from '../../src/app/stores.ts'
import { configFrom } from '../../src/config.ts'
import { scopes } from '../../src/domain/api-key/scopes.ts'
import { type Sealed, sealed } from '../../src/domain/sealed.ts'
import { type RecordedEvent, START } from '../../src/ports/event-store.ts'
import { silent } from '../../src/ports/log.ts'
import { client, user } from '../support/client.ts'
import { gathered } from '../support/noted.ts'
import { platform, superAdminKey } from '../support/platform.ts'

const [json, lines] = ['application/json', 'application/x-ndjson']
const secret = 'The launch is on Tuesday'

/** The application on a folder of its own, which is down while its stores are used. */
const onDisk = async (t: Test) => {
  const path = await mkdtemp(join(tmpdir(), 'reprise-'))
  const config = configFrom({ DATA_DIR: path, SUPER_ADMIN_KEY: superAdminKey, DEMO: 'off' })
  const start = async () => {
    const running = await app(config, { log: pino({ level: 'silent' }) })
    return { ...running, url: await running.http.listen({ host: '127.0.0.1', port: 0 }) }
  }
  let life = await start()
  t.teardown(async () => {
    await life.close()
    await rm(path, { recursive: true, force: true })
  })
  return {
    get url() {
      return life.url
    },
    async offline<T>(work: (stores: Awaited<ReturnType<typeof openStores>>) => Promise<T>) {
      await life.close()
      const stores = await openStores(config, silent)
      const done = await work(stores)
      await stores.close()
      life = await start()
      return done
    },
  }
}

/** Tenant A has said something; tenant B has the box that it is stored in. */
const copied = async (t: Test) => {
  const server = await onDisk(t)
  const admin = platform(server.url)
  const [a, b] = [await admin.organization(), await admin.organization()]
  const key = await a.key()
  const reply = await key.chat({ messages: user(secret), session_id: 'a-1' })
  t.equal(reply.status, 200)
  const owner = await b.key({ scopes })
  const person = await b.key({ type: 'user' })
  return { server, a, b, key: owner.key, person: person.key }
}

const isTheirs =
  (organizationId: string) =>
  ({ type, metadata }: RecordedEvent) =>
    type === 'UserMessageSent' && metadata.organization_id === organizationId

type Operation = { requestBody?: { content: Record<string, unknown> } }

t.test('a sealed box is refused in whatever body it comes', async (t) => {
  const { server, b, key, person } = await copied(t)
  const box = { $sealed: 'session:x/y', box: 'AAAA' }
  const { paths } = (await client(server.url, key).ask('GET', '/api/openapi.json')).body as {
    paths: Record<string, Record<string, Operation>>
  }
  let count = 0
  for (const [path, operations] of Object.entries(paths))
    for (const [method, { requestBody }] of Object.entries(operations)) {
      if (!requestBody?.content['application/json']) continue
      const at = path
        .replace('{organization_id}', b.organizationId)
        .replaceAll(/\{[^}]+\}/g, randomUUID())
      const codes: unknown[] = []
      for (const credential of [key, person, superAdminKey]) {
        const by = client(server.url, credential)
        const body = { parameters: [{ deep: box }] }
        const headers = { origin: new URL(server.url).origin }
        const { code } = await by.ask(method.toUpperCase(), at, body, { headers })
        codes.push(code)
      }
      const allowed = codes.filter((code) => !/(_required|_only|_scopes)$/.test(String(code)))
      t.ok(allowed.length > 0, `${method} ${path} is for one of these keys`)
      t.strictSame([...new Set(allowed)], ['reserved_name'], `${method} ${path}`)
      count++
    }
  t.ok(count >= 20, `${count} routes`)
})

t.test('text that looks like a box stays text', async (t) => {
  const { server, key } = await copied(t)
  const by = client(server.url, key)
  const text = await server.offline(async ({ events }) =>
    JSON.stringify(
      (await gathered(events.history(START))).flat().find(({ type }) => type === 'UserMessageSent'),
    ),
  )
  const again = client(server.url, by.key)
  t.equal((await again.chat({ messages: user(text), session_id: 'b-1' })).status, 200)
  const { body } = await again.ask('GET', '/api/external/sessions/b-1/messages')
  t.match(body.messages[0], { content: text })
  t.notMatch(JSON.stringify(body), secret)
})

t.test('a box that was stored as input is not opened', async (t) => {
  const { server, a, b, key } = await copied(t)
  const mine = await client(server.url, key).chat({ messages: user('Mine'), session_id: 'b-1' })
  t.equal(mine.status, 200)
  await server.offline(async ({ events }) => {
    const all = (await gathered(events.history(START))).flat()
    const boxOf = (organizationId: string): Sealed => {
      const event = all.find(isTheirs(organizationId))
      return z.object({ content: sealed }).parse(event?.data).content
    }
    const [foreign, own] = [boxOf(a.organizationId), boxOf(b.organizationId)]
    const created = all.find(
      ({ type, metadata }) =>
        type === 'AgentCreated' && metadata.organization_id === b.organizationId,
    )
    const message = all.find(isTheirs(b.organizationId))
    if (!created || !message) throw new TypeError('nothing to copy')
    const { agentId } = created.data as { agentId: string }
    const parameters = { properties: { a: { default: foreign, examples: [own] } } }
    const tool = { type: 'api_call', name: 'x', description: '', method: 'GET', headers: {} }
    const tools = [{ ...tool, url: 'https://api.invalid/', parameters }]
    const stored = (type: string, data: object, { metadata }: RecordedEvent) => [
      { id: randomUUID(), type, data, metadata },
    ]
    await events.append(created.stream, 'any', stored('AgentChanged', { agentId, tools }, created))
    const data = { messageId: randomUUID(), runId: randomUUID(), content: foreign }
    await events.append(message.stream, 'any', stored('UserMessageSent', data, message))
  })
  const at = `/api/admin/organizations/${b.organizationId}`
  const seen = async (path: string, pattern: RegExp) => {
    const headers = { 'x-api-key': key, accept: path.startsWith('/feeds/') ? lines : json }
    const reply = await fetch(`${server.url}${at}${path}`, { headers })
    t.equal(reply.status, 200, path)
    const text = await reply.text()
    t.notMatch(text, new RegExp(secret), path)
    t.match(text, pattern, path)
  }
  const ours = `"content":"Mine"`
  await seen(
    '/audit/events?type=AgentChanged',
    /"default":\{"\$sealed":"session:.*"examples":\[\{"\$sealed"/,
  )
  await seen('/audit/events?type=UserMessageSent', new RegExp(`${ours}.*"content":\\{"\\$sealed"`))
  await seen('/audit/state?view=agents', /"examples":\[\{"\$sealed"/)
  await seen('/audit/state?view=messages', /"content":"Mine"/)
  await seen('/feeds/agents', /"examples":\[\{"\$sealed"/)
  await seen('/feeds/messages', /"content":"Mine"/)
  await seen('/agents', /\$sealed/)
})
