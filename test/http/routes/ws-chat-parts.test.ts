import t from 'tap'
import { audioPart, filePart, imagePart, pdf, png, textPart } from '../../support/media.ts'
import { startChat } from '../../support/server.ts'
import { connect } from '../../support/socket.ts'

const env = { LLM_MODALITIES: '{"test/*":["image","audio","file"]}' }
const content = [
  textPart('What is this?'),
  imagePart(png(10, 20, 200_000)),
  audioPart(),
  filePart(pdf(70_000), 'bill.pdf'),
]

t.test('pictures, sounds and files in a message of a socket', async (t) => {
  const { server, key, provider } = await startChat(t, { text: 'A bill.' }, {}, env)
  const socket = await connect(server.url, { 'x-api-key': key.key })
  socket.send({ type: 'message', content })
  const session_id = (await socket.until('stream_complete')).at(-1)?.session_id
  t.strictSame(provider.requests[0]?.body.messages.at(-1)?.content, content, 'as they were sent')

  socket.send({ type: 'message', content: 'And now?', session_id })
  await socket.until('stream_complete')
  t.strictSame(provider.requests[1]?.body.messages.at(-3)?.content, content, 'shown again')

  const { messages } = (await key.messages(session_id)).body
  t.match(messages[0], {
    content: 'What is this?',
    parts: [{ kind: 'image' }, { kind: 'audio' }, { kind: 'file', name: 'bill.pdf' }],
  })
  const download = await fetch(messages[0].parts[2].url)
  t.ok(Buffer.from(await download.arrayBuffer()).equals(pdf(70_000)), 'the file can be fetched')
})

t.test('a file that is refused is an error frame, and nothing is stored', async (t) => {
  const { server, key, provider } = await startChat(t)
  const socket = await connect(server.url, { 'x-api-key': key.key })
  const session_id = 'with-file'
  socket.send({ type: 'message', content, session_id })
  const frames = await socket.until('error')
  t.match(frames.at(-1), { error: { code: 'unsupported_content' } })
  const torn = { ...imagePart(), image_url: { url: 'data:image/png;base64,#' } }
  socket.send({ type: 'message', content: [torn], session_id, id: 'torn' })
  t.match((await socket.until('error')).at(-1), { id: 'torn', error: { code: String } })
  t.equal((await key.messages(session_id)).status, 404)
  t.equal(provider.requests.length, 0)
})
