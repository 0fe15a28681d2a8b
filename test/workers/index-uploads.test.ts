import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { blobFiles, filesIn } from '../support/blob-files.ts'
import { eventually } from '../support/eventually.ts'
import { allRag, encodedFile, library } from '../support/library.ts'
import { startApp, startServer } from '../support/server.ts'

const book = (word: string) => `The ${word} sleeps under a tree by the river. `.repeat(40_000)

t.test('killed in the middle of indexing, the next life completes it', async (t) => {
  const server = await startServer(t)
  const organization = await server.platform.organization()
  const at = `/organizations/${organization.organizationId}`
  const { key } = await server.platform.ask('POST', `${at}/api-keys`, {
    name: 'Kept',
    scopes: allRag,
  })
  const before = library(server.as(key))
  const id = await before.datastore()
  const names = ['zebra', 'lion', 'heron', 'otter']
  for (const name of names)
    t.equal((await before.upload(id, encodedFile(`${name}.txt`, book(name)))).status, 200)
  await server.kill9()
  await server.restart()
  const after = library(server.as(key))
  const files = await after.settled(id)
  t.strictSame(
    files.map(({ filename, status }: { filename: string; status: string }) => [filename, status]),
    names.map((name) => [`${name}.txt`, 'completed']),
  )
  for (const name of names)
    t.match((await after.search(id, name))[0], { filename: `${name}.txt` }, name)
  t.match((await after.ask('GET', '/datastores')).body.datastores, [{ document_count: 4 }])
  const { events } = await server.platform.ask('GET', `${at}/audit/events?type=UploadRequeued`)
  t.ok(events.length > 0, 'what was under way has waited again')
})

t.test(
  'deleting a file removes its blob, unless another upload of the DataStore has the same bytes',
  async (t) => {
    const data = await mkdtemp(join(tmpdir(), 'reprise-'))
    t.teardown(() => rm(data, { recursive: true, force: true }))
    const server = await startApp(t, { DATA_DIR: data })
    const key = () =>
      server.platform.organization().then((organization) => organization.key({ scopes: allRag }))
    const [ours, theirs] = [library(await key()), library(await key())]
    const [first, second] = [await ours.datastore(), await theirs.datastore()]
    await ours.upload(first, encodedFile('a.txt', 'The same bytes.'))
    await theirs.upload(second, encodedFile('b.txt', 'The same bytes.'))
    await ours.upload(first, encodedFile('c.txt', 'The same bytes.'))
    await ours.settled(first)
    await theirs.settled(second)
    const count = (expected: number) =>
      eventually(async () => (await blobFiles(data)).length === expected)
    t.ok(await count(5), 'the bytes once in each DataStore, the chunks of each upload')
    await ours.ask('DELETE', `/datastores/${first}/files/a.txt`)
    t.ok(await count(4))
    await ours.ask('DELETE', `/datastores/${first}/files/c.txt`)
    t.ok(await count(2))
    t.match(await theirs.search(second, 'bytes'), [{ filename: 'b.txt' }])
    await theirs.ask('DELETE', `/datastores/${second}`)
    t.ok(await count(0))
    t.strictSame(await filesIn(join(data, 'incoming')), [])
  },
)
