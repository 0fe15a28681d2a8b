import t from 'tap'
import { allRag, encodedFile, library } from '../../support/library.ts'
import { startApp } from '../../support/server.ts'
import { connect } from '../../support/socket.ts'

t.test(
  'the status of a file sent over a socket is reported until it can be searched',
  async (t) => {
    const server = await startApp(t)
    const key = await (await server.platform.organization()).key({ scopes: allRag })
    const { datastore, search } = library(key)
    const datastore_id = await datastore()
    const socket = await connect(server.url, { 'x-api-key': key.key })
    await socket.next()
    const file = { type: 'file', datastore_id, ...encodedFile('folder/tea.txt', 'Tea is at four.') }
    socket.send(file)
    const seen = await socket.until('file_status', ({ status }) => status === 'completed')
    t.match(seen.at(-1), { filename: 'tea.txt', datastore_id, error_message: null })
    t.match(await search(datastore_id, 'tea'), [{ text: 'Tea is at four.' }])
    for (const [wrong, code] of [
      [{ filename: 'a.exe' }, 'unsupported_file_type'],
      [{ filename: 'a\u0007.txt' }, 'invalid_input'],
      [{ content: '?' }, 'invalid_base64'],
      [{ datastore_id: 'd-1' }, 'datastore_not_found'],
    ] as const) {
      socket.send({ ...file, ...wrong })
      t.match(await socket.next(), { type: 'error', error: { code } })
    }
    socket.close()
  },
)
