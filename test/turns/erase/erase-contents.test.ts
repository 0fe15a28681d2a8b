import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { blobFiles } from '../../support/blob-files.ts'
import { eventually } from '../../support/eventually.ts'
import { allRag, encodedFile, library } from '../../support/library.ts'
import { startApp } from '../../support/server.ts'
import { painterOf } from '../../support/studio.ts'

const users = '/api/external/management/users'
const path = '/api/external/content'

const folder = async () => {
  const data = await mkdtemp(join(tmpdir(), 'reprise-'))
  t.teardown(() => rm(data, { recursive: true, force: true }))
  return data
}

/** The files below a folder in which a text lies, as it is or in UTF-16. */
const holding = async (data: string, text: string): Promise<string[]> => {
  const entries = await readdir(data, { recursive: true, withFileTypes: true })
  const paths: string[] = []
  for (const entry of entries) {
    if (!entry.isFile()) continue
    const at = join(entry.parentPath, entry.name)
    const bytes = await readFile(at)
    if (bytes.includes(text) || bytes.includes(Buffer.from(text, 'utf16le'))) paths.push(at)
  }
  return paths
}

const blobsIn = async (data: string): Promise<number> => (await blobFiles(data)).length

t.test('with a session goes what was generated in it', async (t) => {
  const data = await folder()
  const server = await startApp(t, { DATA_DIR: data })
  const organization = await server.platform.organization()
  const agent = await organization.agent({ name: 'Painter', tools: ['generate_content'] })
  const key = await organization.key({
    scopes: [
      'agents:invoke',
      'content:read',
      'content:retry',
      'sessions:delete',
      'users:provision',
      'users:delegate',
    ],
  })
  const { organizationId: organization_id } = organization
  const { user_id } = (await key.ask('POST', users, { email: 'ann@example.com', organization_id }))
    .body
  const on_behalf_of = `?on_behalf_of=${user_id}`
  const { draw } = painterOf(key, agent)
  const marker = 'xylographic-heron-4711'
  const asAnn = { on_behalf_of: user_id }
  const drawItem = async (session_id: string, message: string, status: string) => {
    const id = await draw(message, { ...asAnn, session_id })
    const item = await eventually(async () => {
      const { body } = await key.ask('GET', `${path}/${id}${on_behalf_of}`)
      return body.status === status && body
    })
    return { id, link: item?.storage_url as string }
  }
  const picture = await drawItem('gone', `Draw a picture of a ${marker}`, 'completed')
  const failed = await drawItem('gone', `Create a video of a ${marker}`, 'failed')
  const otherPicture = await drawItem('kept', `Draw a picture of a ${marker}`, 'completed')
  t.match(await (await fetch(picture.link)).text(), marker)
  t.strictSame(await holding(data, marker), [], 'no file has the prompt or the picture')
  t.equal(await blobsIn(data), 2)

  const erased = await key.ask('DELETE', `${users}/${user_id}/sessions/gone`)
  t.match(erased, { status: 200, body: { deleted: 1 } })
  t.equal((await fetch(picture.link)).status, 404)
  t.match(await (await fetch(picture.link)).json(), { error: { code: 'file_link_invalid' } })
  for (const { id } of [picture, failed])
    t.equal((await key.ask('GET', `${path}/${id}${on_behalf_of}`)).status, 404)
  const retried = await key.ask('POST', `${path}/${failed.id}/retry${on_behalf_of}`)
  t.equal(retried.status, 404)
  const list = (await key.ask('GET', `${path}${on_behalf_of}`)).body
  t.match(list, { total: 1, items: [{ id: otherPicture.id }] })
  t.equal(await blobsIn(data), 1)
  t.match(await (await fetch(otherPicture.link)).text(), marker, 'another session keeps its own')

  await server.restart()
  const { pathname, search } = new URL(otherPicture.link)
  t.match(await (await fetch(`${server.url}${pathname}${search}`)).text(), marker)
  const lost = new URL(picture.link)
  t.equal((await fetch(`${server.url}${lost.pathname}${lost.search}`)).status, 404)
  t.strictSame(await holding(data, marker), [])
})

t.test('documents lie nowhere in plaintext, and are searched all the same', async (t) => {
  const data = await folder()
  const server = await startApp(t, { DATA_DIR: data })
  const key = await (await server.platform.organization()).key({ scopes: allRag })
  const shelf = library(key)
  const id = await shelf.datastore()
  const marker = 'quixotic-otter-0815'
  await shelf.upload(id, encodedFile('otter.txt', `The ${marker} sleeps by the river.`))
  await shelf.settled(id)
  t.match(await shelf.search(id, marker), [{ filename: 'otter.txt' }])
  t.strictSame(await holding(data, marker), [])
  await server.restart()
  const after = library(server.as(key.key))
  t.match(await after.search(id, marker), [{ filename: 'otter.txt' }])
  t.strictSame(await holding(data, marker), [])
  t.match(await after.ask('DELETE', `/datastores/${id}`), { status: 200 })
  t.ok(await eventually(async () => (await blobsIn(data)) === 0))
})
