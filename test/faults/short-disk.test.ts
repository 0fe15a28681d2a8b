import t from 'tap'
import { contents, user } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { allRag, encodedFile, library } from '../support/library.ts'
import { startChat } from '../support/server.ts'

/** More than any disk of a test has. */
const short = { DISK_RESERVE_MB: '1048576' }
const session_id = 'one'

t.test(
  'below the reserve every write gets 503, every read an answer, also after a start',
  async (t) => {
    const { server, organization, provider } = await startChat(t)
    const scopes = [...allRag, 'orchestrator:invoke', 'sessions:read', 'sessions:messages']
    const { key } = await organization.key({ scopes })
    const documents = library(server.as(key))
    const datastore = await documents.datastore()
    t.equal((await server.as(key).chat({ messages: user('One'), session_id })).status, 200)
    t.equal((await documents.upload(datastore, encodedFile('a.md', '# A'))).status, 200)
    await documents.settled(datastore)

    await server.restart(short)
    const client = server.as(key)
    const requestsBefore = provider.requests.length
    const refused = { status: 503, code: 'service_unavailable' }
    const form = new FormData()
    form.set('datastore_id', datastore)
    form.set('files', new Blob(['# B'.repeat(100_000)], { type: 'text/markdown' }), 'b.md')
    const writes = {
      'a message': () => client.chat({ messages: user('Two'), session_id }),
      'a message of a new session': () => client.chat({ messages: user('Two') }),
      'a file in JSON': () => library(client).upload(datastore, encodedFile('b.md', '# B')),
      'a DataStore': () =>
        client.ask('POST', '/api/external/rag/datastores', { display_name: 'Other' }),
      'a forked session': () => client.ask('POST', `/api/external/sessions/${session_id}/fork`, {}),
    }
    for (const [what, write] of Object.entries(writes))
      t.match(await write(), refused, `${what} is refused`)
    const uploaded = await fetch(new URL('/api/external/rag/upload', server.url), {
      method: 'POST',
      headers: { 'x-api-key': key },
      body: form,
    })
    t.match([uploaded.status, uploaded.headers.get('x-error-code')], [503, 'service_unavailable'])
    t.equal(
      provider.requests.length,
      requestsBefore,
      'no model is asked for what cannot be recorded',
    )
    t.equal((await client.messages(session_id)).status, 200)
    t.equal((await client.sessions()).status, 200)
    t.match(await library(client).ask('GET', '/datastores'), { status: 200 })
    const ready = await client.ask('GET', '/api/health/ready')
    t.match(ready, { status: 503, body: { checks: { disk: { ok: false } } } })

    await server.restart({ DISK_RESERVE_MB: '1' })
    const again = server.as(key)
    await eventually(async () => (await again.ask('GET', '/api/health/ready')).status === 200)
    t.equal((await again.chat({ messages: user('Three'), session_id })).status, 200)
    const texts = await contents(again, session_id)
    t.ok(texts.includes('One') && texts.includes('Three'))
    t.notOk(texts.includes('Two'), 'nothing is stored of what was refused')
  },
)
