import t from 'tap'
import { allRag, library } from '../../support/library.ts'
import { raw } from '../../support/raw.ts'
import { startApp } from '../../support/server.ts'

const boundary = 'xyz'
const line = '\r\n'
const field = (name: string, value: string) =>
  ['--xyz', `content-disposition: form-data; name="${name}"`, '', value, ''].join(line)
const file = (name: string, content: string) =>
  [
    '--xyz',
    `content-disposition: form-data; name="files"; filename="${name}"`,
    'content-type: text/plain',
    '',
    content,
    '',
  ].join(line)
const nameless = ['--xyz', 'x: y', '', '', ''].join(line)

const scene = async (t: Parameters<typeof startApp>[0]) => {
  const { url, platform } = await startApp(t)
  const key = await (await platform.organization()).key({ scopes: allRag })
  const id = await library(key).datastore()
  const send = (...parts: string[]) =>
    raw(url)('/api/external/rag/upload', {
      method: 'POST',
      headers: {
        'x-api-key': key.key,
        'content-type': `multipart/form-data; boundary=${boundary}`,
      },
      body: [...parts, '--xyz--', line].join(''),
    })
  return { send, store: field('datastore_id', id) }
}

const tooLarge = { status: 413, headers: { 'x-error-code': 'payload_too_large' } }

t.test('every part of a form counts, also one without a name', async (t) => {
  const { send, store } = await scene(t)
  const good = file('a.txt', 'Zebras sleep here.')
  t.match(await send(store, ...Array(18).fill(nameless), good), { status: 200 })
  t.match(await send(store, ...Array(19).fill(nameless), good), tooLarge)
  t.match(await send(store, good, nameless.repeat(200_000)), tooLarge)
  t.match(await send(store, ...Array(11).fill(field('a', 'b')), good), tooLarge)
})

t.test('a form of more bytes than its files may have is refused', async (t) => {
  const { send, store } = await scene(t)
  const good = file('a.txt', 'Zebras sleep here.')
  const preamble = 'x'.repeat(11 * 1024 * 1024) + line
  t.match(await send(preamble, store, good), tooLarge)
  t.match(await send(store, good, ['--xyz', 'x: y', '', preamble].join(line)), tooLarge)
  const large = file('large.txt', 'x'.repeat(12 * 1024 * 1024))
  t.match(await send(store, large), { status: 400, headers: { 'x-error-code': 'file_too_large' } })
  t.match(await send(store, file('b.txt', 'x'.repeat(1024 * 1024))), { status: 200 })
})

t.test('%22 in the name of a file is a quote, as browsers send it', async (t) => {
  const { send, store } = await scene(t)
  const { status, body } = await send(store, file('my %22zebra%22 50%25.txt', 'Zebras sleep here.'))
  t.equal(status, 200)
  t.match(body.uploads, [{ filename: 'my "zebra" 50%25.txt' }])
})
