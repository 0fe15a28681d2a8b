import t from 'tap'
import { scopes } from '../../src/domain/api-key/scopes.ts'
import { type Client, user } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { startApp, startServer } from '../support/server.ts'
import { connect } from '../support/socket.ts'

t.setTimeout(300_000)

const external = (path: string) => `/api/external${path}`

const storageOf = async (key: Client) =>
  (await key.ask('GET', external('/account'))).body.storage as {
    used_bytes: number
    quota_bytes: number
  }

const datastore = async (key: Client): Promise<string> =>
  (await key.ask('POST', external('/rag/datastores'), { display_name: 'Docs' })).body.datastore_id

const upload = (key: Client, datastore_id: string, filename: string, text: string) =>
  key.ask('POST', external('/rag/upload'), {
    datastore_id,
    files: [{ filename, content: Buffer.from(text).toString('base64') }],
  })

const indexed = (key: Client) =>
  eventually(async () => {
    const { uploads } = (await key.ask('GET', external('/rag/uploads'))).body
    return uploads.every(({ status }: { status: string }) => status === 'completed')
  })

t.test(
  'over the quota nothing more is stored, on any way, until something is erased',
  async (t) => {
    const server = await startApp(t, { STORAGE_QUOTA_PRO: '20000' })
    const organization = await server.platform.organization()
    const key = await organization.key({ scopes })
    t.strictSame(await storageOf(key), { used_bytes: 0, quota_bytes: 20_000 })
    const docs = await datastore(key)
    t.equal((await upload(key, docs, 'a.txt', 'word '.repeat(1_000))).status, 200)
    await indexed(key)
    const { used_bytes } = await storageOf(key)
    t.ok(used_bytes > 10_000, 'the file and its passages')

    const refused = await upload(key, docs, 'b.txt', 'word '.repeat(3_000))
    t.equal(refused.status, 413)
    t.match(refused.body, {
      detail: {
        error: {
          code: 'storage_quota_exceeded',
          stored_bytes: used_bytes,
          quota_bytes: 20_000,
        },
      },
    })
    const chat = () => key.chat({ messages: user('Hi'), session_id: 'mine' })
    t.equal((await chat()).status, 200)
    const noise = Array.from({ length: 10_000 }, () => Math.random().toString(36)[3]).join('')
    const large = await key.ask('POST', external('/v1/responses'), { input: noise })
    t.equal(large.status, 200)
    const full = await chat()
    t.equal(full.status, 413)
    t.match(full.body, { error: { code: 'storage_quota_exceeded', type: 'invalid_request_error' } })
    t.equal((await key.ask('POST', external('/v1/responses'), { input: 'Hi' })).status, 413)
    const fork = await key.ask('POST', external('/sessions/mine/fork'))
    t.match(fork, { status: 413, code: 'storage_quota_exceeded', body: { detail: String } })
    t.equal((await upload(key, docs, 'c.txt', 'more')).status, 413)
    const ws = await connect(server.url, { 'x-api-key': key.key })
    ws.send({ type: 'message', content: 'Hi' })
    t.match((await ws.until('error')).at(-1), { error: { code: 'storage_quota_exceeded' } })
    ws.ws.close()
    t.equal((await key.messages('mine')).status, 200, 'what is stored can be read')

    const other = await (await server.platform.organization()).key()
    t.equal((await other.chat({ messages: user('Hi') })).status, 200, 'others store on')

    const erase = external(`/v1/responses/${large.body.id}`)
    t.match(await key.ask('DELETE', erase), { body: { deleted: true } })
    t.equal((await chat()).status, 200)
    t.equal((await key.ask('DELETE', external(`/rag/datastores/${docs}`))).status, 200)
    await eventually(async () => (await storageOf(key)).used_bytes < 5_000)
  },
)

t.test('the count is the same after kill -9 and after the read model is rebuilt', async (t) => {
  const server = await startServer(t)
  const organization = await server.platform.organization()
  const { key } = await organization.key({ scopes })
  const first = server.as(key)
  const docs = await datastore(first)
  await upload(first, docs, 'a.txt', 'word '.repeat(1_000))
  await indexed(first)
  for (let n = 0; n < 3; n++)
    await first.chat({ messages: user(`Message ${n}`), session_id: `session-${n}` })
  await first.ask('POST', external('/sessions/session-0/fork'))
  const before = await storageOf(first)
  t.ok(before.used_bytes > 5_000)
  await server.kill9()
  await server.restart()
  t.strictSame(await storageOf(server.as(key)), before)
  await server.platform.ask('POST', '/projections/storage/rebuild')
  t.strictSame(await storageOf(server.as(key)), before)
})
