import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { user } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { handlesOf, noHandleLimits } from '../support/few-handles.ts'
import { allRag, encodedFile, library } from '../support/library.ts'
import { superAdminKey } from '../support/platform.ts'
import { startServer } from '../support/server.ts'

t.setTimeout(300_000)

const skip = noHandleLimits()
/** A file can be stored then, and no process started. */
const enoughForFile = 6

const knock = async (url: string, count: number): Promise<Socket[]> => {
  const { hostname, port } = new URL(url)
  const sockets: Socket[] = []
  for (let n = 0; n < count; n++) {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined)
    sockets.push(socket)
    await Promise.race([once(socket, 'connect'), once(socket, 'close')])
  }
  return sockets
}

const health = async (url: string): Promise<boolean> =>
  fetch(new URL('/api/health/ready', url)).then(
    ({ status }) => status === 200,
    () => false,
  )

t.test(
  '700 connections at a limit of 600 handles: some are refused, and the server lives',
  { skip },
  async (t) => {
    const server = await startServer(t, {}, { by: ['prlimit', '--nofile=600:600'] })
    const organization = await server.platform.organization()
    const key = await organization.key()
    const sockets = await knock(server.url, 700)
    const open = () => sockets.filter(({ closed, destroyed }) => !closed && !destroyed).length
    await eventually(async () => open() <= 250)
    t.ok(open() > 100, 'the others stay open')
    for (const socket of sockets) socket.destroy()
    await eventually(() => health(server.url))
    t.equal((await key.chat({ messages: user('Hello') })).status, 200)
    const at = `/api/admin/organizations/${organization.organizationId}`
    t.ok(await server.platform.ask('GET', `${at.replace('/api/admin', '')}/audit/events`))
    const metrics = await (await fetch(new URL('/metrics', server.url))).text()
    t.match(metrics, /^reprise_connections_refused_total [1-9]/m)
    t.equal(await server.stop(), 0)
  },
)

/** A server of compiled files, as it is installed, and how many handles it can still open. */
const started = async (t: Test) => {
  const server = await startServer(t, { TEST_BUNDLE: '' })
  const organization = await server.platform.organization()
  const key = await organization.key({ scopes: [...allRag, 'orchestrator:invoke'] })
  const documents = library(key)
  const datastore = await documents.datastore()
  const upload = (name: string) =>
    documents.upload(datastore, encodedFile(name, '# Hours\n\nAt nine.\n'))
  const settled = () => documents.settled(datastore)
  return { server, organization, key, upload, settled, handles: handlesOf(server.pid) }
}

t.test('a document is read later if no process can be started', { skip }, async (t) => {
  const { server, upload, settled, handles } = await started(t)
  const takeHandles = () => knock(server.url, handles.leave(enoughForFile) - enoughForFile)
  await takeHandles()
  t.equal((await upload('hours.md')).status, 200)
  await eventually(async () => {
    // The server closes silent connections, which frees their handles.
    await takeHandles()
    return /spawn .* EMFILE/.test(server.output())
  })
  handles.restore()
  t.match(await settled(), [{ filename: 'hours.md', status: 'completed' }])
  t.equal(await server.stop(), 0)
})

t.test(
  'with no handle left, requests are refused and answered again later',
  { skip },
  async (t) => {
    const { server, organization, key, upload, handles } = await started(t)
    const schema = (n: number) => ({
      messages: user('Hello'),
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'n', schema: { type: 'object', properties: { [`n${n}`]: {} } } },
      },
    })
    const operator = server.as(superAdminKey)
    const audit = () =>
      operator.ask('GET', `/api/admin/organizations/${organization.organizationId}/audit/events`)
    for (const left of [0, 1, 2, 3, 4, 6, 8, 10]) {
      const sockets = await knock(server.url, handles.leave(left) - left)
      const replies = await Promise.all(
        [
          upload(`file-${left}.md`),
          key.chat({ messages: user('Hello') }),
          key.chat(schema(left)),
          audit(),
          fetch(new URL('/docs/static/index.html', server.url)).catch(() => ({ status: 0 })),
        ].map((reply) => reply.catch(() => ({ status: 0 }))),
      )
      const odd = replies.filter(({ status }) => ![0, 200, 503].includes(status))
      t.strictSame(odd, [], `${left} handles left: all are answered, refused, or not connected`)
      for (const socket of sockets) socket.destroy()
      handles.restore()
      t.ok(await eventually(() => health(server.url)), `${left} handles left: the server lives`)
    }
    t.equal((await key.chat(schema(99))).status, 200)
    t.equal(await server.stop(), 0)
  },
)
