import t from 'tap'
import { contents, eventsOf, type Frame, textOf, user } from '../../support/client.ts'
import { type DotnetClient, dotnetClients, dotnetStream } from '../../support/dotnet-requests.ts'
import { parallelAgents } from '../../support/parallel-agents.ts'
import { startApp, startChat } from '../../support/server.ts'

const text = 'Hello from the double.'
const messages = user('Hi')
const names = Object.keys(dotnetClients) as DotnetClient[]
/** Those that say in their `User-Agent` that they are of .NET. */
const named = names.filter((name) => name !== 'Betalgo')

/** What clients of .NET deserialize: each item is a chunk with `choices`. */
const isChunk = ({ data }: Frame) => data === '[DONE]' || Array.isArray(data.choices)

for (const name of names)
  t.test(`${name}: agent events come inside of chunks`, async (t) => {
    const { key, server } = await startChat(t, { text })
    const { status, frames, complete } = await dotnetStream(server.url, key.key, name, { messages })
    t.equal(status, 200)
    t.ok(complete)
    t.ok(frames.every(isChunk))
    t.match(eventsOf(frames), [{ event: 'agent_started' }, { event: 'agent_completed' }])
    t.equal(frames.at(-1)?.data, '[DONE]')
    t.equal(textOf(frames.slice(0, -1)), text)
  })

for (const name of names)
  t.test(`${name}: parallel branches come one after another, as they are stored`, async (t) => {
    const server = await startApp(t)
    const organization = await server.platform.organization({ credits: 100 })
    const key = await organization.key()
    const both = await parallelAgents(organization)
    const { frames } = await dotnetStream(server.url, key.key, name, {
      messages: user('What do you know of tea and of coffee?'),
      target_agent_id: both,
      session_id: 's1',
    })
    const [, stored] = await contents(key, 's1')
    t.match(stored, /^Left:\n.*\n\nRight:\n/s)
    t.equal(textOf(frames), stored)
  })

t.test('`X-API-Key` alone keeps plain events, and a Bearer beside it gets chunks', async (t) => {
  const { key } = await startChat(t, { text })
  const alone = await (await key.stream({ messages })).all()
  t.ok(alone.some(({ data }) => data.event === 'agent_started'))
  const headers = { authorization: 'Bearer unused' }
  t.ok((await (await key.stream({ messages }, { headers })).all()).every(isChunk))
  const plain = { messages, stream_options: { agent_events: 'plain' } }
  const frames = await (await key.stream(plain, { headers })).all()
  t.ok(
    frames.some(({ data }) => data.event === 'agent_started'),
    'what is asked for wins',
  )
})

t.test('a `User-Agent` with `OpenAI/` gets chunks, also with `X-API-Key`', async (t) => {
  const { key } = await startChat(t, { text })
  const headers = { 'user-agent': 'OpenAI/Go 1.12.0' }
  t.ok((await (await key.stream({ messages }, { headers })).all()).every(isChunk))
})

const failure = { error: { code: 'llm_service_unavailable', type: 'server_error' } }

for (const name of named)
  t.test(`${name}: a failure in a stream ends the transfer unfinished`, async (t) => {
    const { key, server } = await startChat(t, { text, cutAfter: 3 })
    const { status, frames, complete } = await dotnetStream(server.url, key.key, name, { messages })
    t.equal(status, 200)
    t.match(frames.at(-1)?.data, failure, 'the error is the last item')
    t.notOk(complete)
  })

const endings: [DotnetClient, string | null | undefined, 'whole' | 'cut off'][] = [
  ['OpenAI', undefined, 'cut off'],
  ['OpenAI', null, 'cut off'],
  ['OpenAI', 'close', 'cut off'],
  ['OpenAI', 'frame', 'whole'],
  ['Betalgo', undefined, 'whole'],
  ['Betalgo', 'close', 'cut off'],
]

for (const [name, on_error, end] of endings)
  t.test(`${name}: a failed stream with \`on_error\` ${on_error} ends ${end}`, async (t) => {
    const { key, server } = await startChat(t, { text, cutAfter: 3 })
    const body = { messages, stream_options: { on_error } }
    const { frames, complete } = await dotnetStream(server.url, key.key, name, body)
    t.ok(frames.some(({ data }) => data.error))
    t.equal(frames.at(-1)?.data === '[DONE]', end === 'whole')
    t.equal(complete, end === 'whole')
  })

t.test('a failed stream that is followed again ends as the client expects', async (t) => {
  const { key } = await startChat(t, { text, cutAfter: 3 })
  await (await key.stream({ messages, session_id: 's1' })).all()
  const headers = dotnetClients.OpenAI
  const cut = await key.attach('s1', { headers })
  await t.rejects(cut.all(), 'the transfer is unfinished')
  const frames = await (await key.attach('s1', { headers }, '?on_error=frame')).all()
  t.equal(frames.at(-1)?.data, '[DONE]')
})

t.test('an answer that succeeds ends whole, also with `on_error: "close"`', async (t) => {
  const { key, server } = await startChat(t, { text })
  const body = { messages, stream_options: { on_error: 'close' } }
  const { frames, complete } = await dotnetStream(server.url, key.key, 'OpenAI', body)
  t.equal(frames.at(-1)?.data, '[DONE]')
  t.ok(complete)
})

t.test('another `on_error` is refused', async (t) => {
  const { key } = await startChat(t, { text })
  const { status, body } = await key.chat({ messages, stream_options: { on_error: 'loud' } })
  t.equal(status, 400)
  t.match(body.error, { param: /on_error/ })
})
