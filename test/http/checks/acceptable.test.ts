import t from 'tap'
import { user } from '../../support/client.ts'
import { startChat } from '../../support/server.ts'

const accepting = (accept: string) => ({ headers: { accept } })

/** docs/contract/requests.md#answers */
t.test('an Accept that no answer of the route satisfies is refused', async (t) => {
  const { organization } = await startChat(t)
  const key = await organization.key({ scopes: ['admin:read', 'sessions:read'] })
  const at = `/api/admin/organizations/${organization.organizationId}`
  const refused: readonly [string, string][] = [
    ['/api/external/sessions', 'text/html'],
    ['/api/external/sessions', 'application/xml, text/*;q=0.5'],
    ['/api/external/sessions', '*/*, application/json;q=0'],
    ['/api/external/sessions', 'application/*;q=0.0, text/plain'],
    ['/api/external/sessions', 'text/event-stream'],
    [`${at}/audit/events`, 'text/csv'],
    [`${at}/audit/checkpoint`, 'text/html'],
    [`${at}/audit/export`, 'text/plain'],
    [`${at}/feeds/sessions`, 'text/html'],
  ]
  for (const [path, accept] of refused) {
    const reply = await key.ask('GET', path, undefined, accepting(accept))
    t.equal(reply.status, 406, `${path} ${accept}`)
    t.equal(reply.code, 'not_acceptable')
    t.match(reply.headers.get('content-type'), /^application\/json/)
  }
  const refusal = await key.ask('GET', '/api/external/sessions', undefined, accepting('text/html'))
  t.match(refusal.body, { detail: /^This answers with application\/json/ })
})

t.test('an Accept that admits the answer is satisfied', async (t) => {
  const { organization } = await startChat(t)
  const key = await organization.key({ scopes: ['admin:read', 'sessions:read'] })
  const at = `/api/admin/organizations/${organization.organizationId}`
  const admitted: readonly [string, string][] = [
    ['/api/external/sessions', ''],
    ['/api/external/sessions', '*/*'],
    ['/api/external/sessions', '*'],
    ['/api/external/sessions', 'APPLICATION/JSON; charset=utf-8'],
    ['/api/external/sessions', 'text/html, application/*;q=0.1'],
    ['/api/external/sessions', 'text/html;q=1, */*;q=0.001, application/xml;q=0'],
    ['/api/external/sessions', 'application/json;q=nonsense'],
    [`${at}/audit/events`, 'application/x-ndjson'],
    [`${at}/audit/checkpoint`, 'text/plain'],
    [`${at}/audit/checkpoint`, 'text/*'],
    [`${at}/audit/checkpoint`, 'application/json, text/html'],
    [`${at}/audit/export`, 'application/x-ndjson'],
  ]
  for (const [path, accept] of admitted) {
    const { status } = await key.ask('GET', path, undefined, accepting(accept))
    t.equal(status, 200, `${path} ${accept}`)
  }
})

t.test('whether a turn is streamed is said by its body, never by Accept', async (t) => {
  const { key } = await startChat(t)
  const request = { messages: user('Hi') }
  for (const accept of ['text/event-stream', 'text/html'])
    t.match(
      await key.ask('POST', '/api/external/v1/chat/completions', request, accepting(accept)),
      { status: 200, body: { object: 'chat.completion' } },
      accept,
    )
  const streamed = await key.stream(request, accepting('application/json'))
  t.equal(streamed.status, 200)
  t.equal((await streamed.all()).at(-1)?.data, '[DONE]')
})

t.test('nothing is done by a request whose answer could not be read', async (t) => {
  const { organization } = await startChat(t)
  const key = await organization.key({ scopes: ['rag:upload', 'rag:read'] })
  const body = { display_name: 'Unseen' }
  const path = '/api/external/rag/datastores'
  t.equal((await key.ask('POST', path, body, accepting('text/html'))).status, 406)
  t.equal((await key.ask('GET', path)).body.total, 0)
})
