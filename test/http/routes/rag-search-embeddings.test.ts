import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import t, { type Test } from 'tap'
import { blobFiles } from '../../support/blob-files.ts'
import type { Client } from '../../support/client.ts'
import { eventually } from '../../support/eventually.ts'
import { allRag, encodedFile, library } from '../../support/library.ts'
import type { Reply } from '../../support/provider-double.ts'
import { movableClock, startChat } from '../../support/server.ts'

const transport = { connectMs: 300, firstMs: 300, idleMs: 300, backOffMs: 1, retries: 0 }

/** The application over a provider that knows what words mean, with a DataStore of its own. */
const opened = async (
  t: Test,
  { embeddings = {}, env = {} }: { embeddings?: Reply; env?: Record<string, string> } = {},
) => {
  const clock = movableClock()
  const all = await startChat(
    t,
    { text: 'ok' },
    { transport, clock },
    {
      EMBEDDING_MODEL: 'meaning',
      ...env,
    },
  )
  all.provider.embeddings(embeddings)
  const key = await all.organization.key({ scopes: [...allRag, 'agents:invoke'] })
  const shelf = library(key)
  return { ...all, clock, key, ...shelf, id: await shelf.datastore() }
}

const names = (results: { filename: string }[]) => results.map(({ filename }) => filename)

/** Whether a search finds what only means the same. */
const meaning = (key: Pick<Client, 'ask'>, id: string) => async () =>
  names(await library(key).search(id, 'automobile')).includes('car.txt')

const files = [
  encodedFile('car.txt', 'The car is red.'),
  encodedFile('doctor.txt', 'A doctor calls at four.'),
]

t.test('a text of the same meaning is found once it is embedded', async (t) => {
  const { provider, upload, settled, search, id, key, organization, server } = await opened(t)
  await upload(id, ...files)
  await settled(id)
  t.ok(await eventually(meaning(key, id)))
  t.match(await search(id, 'a vehicle'), [
    { filename: 'car.txt', text: 'The car is red.', place: 'line 1' },
  ])
  const both = await search(id, 'red automobile, or a physician')
  t.strictSame(names(both)[0], 'car.txt', 'found by its words and by what it means')
  t.ok(both[0].score > 1 / 61)
  const texts = provider.embedded()
  const queries = texts.flat().filter((text) => text === 'a vehicle')
  await search(id, 'a vehicle')
  t.equal(queries.length, 1)
  t.equal(
    provider
      .embedded()
      .flat()
      .filter((text) => text === 'a vehicle').length,
    1,
    'a query is embedded once',
  )
  const agent = await organization.agent({
    name: 'Librarian',
    datastore_ids: [id],
    tools: ['search_knowledge'],
  })
  provider.next({ calls: [{ name: 'search_knowledge', arguments: { query: 'physician' } }] })
  await key.ask('POST', `/api/external/agents/${agent}/completions`, { message: 'Who calls?' })
  const messages = JSON.stringify(provider.requests.at(-1)?.body.messages)
  t.match(messages, /A doctor calls at four\..*/)
  t.match(messages, /line 1/)
  const embedded = provider.embedded().flat()
  await server.restart()
  const after = server.as(key.key)
  t.ok(await meaning(after, id)(), 'a restart embeds no document again')
  t.equal(
    provider
      .embedded()
      .flat()
      .filter((text) => text.startsWith('The car')).length,
    1,
  )
  t.equal(embedded.filter((text) => text.startsWith('The car')).length, 1)
})

for (const [what, embeddings] of Object.entries<Reply>({
  'answers 500': { status: 500 },
  'refuses the key': { status: 401 },
  'never answers': { silent: true },
  'answers garbage': { raw: '{"data":[{"index":0}]}' },
}))
  t.test(`a provider that ${what} fails no upload and no search`, async (t) => {
    const { upload, settled, search, id } = await opened(t, { embeddings })
    await upload(id, ...files)
    t.match(await settled(id), [{ status: 'completed' }, { status: 'completed' }])
    t.match(names(await search(id, 'red car')), ['car.txt'])
    t.strictSame(await search(id, 'automobile'), [], 'words alone decide')
  })

t.test('texts that a failing provider missed are embedded later', async (t) => {
  const { provider, server, clock, upload, settled, id, key } = await opened(t, {
    embeddings: { status: 503 },
  })
  await upload(id, ...files)
  await settled(id)
  t.ok(await eventually(async () => provider.embedded().length > 0))
  t.notOk(await meaning(key, id)())
  provider.embeddings({})
  t.ok(
    await eventually(async () => {
      clock.advance(30_000)
      await server.tick()
      return meaning(key, id)()
    }),
  )
})

t.test('documents from before, and another model, are embedded when they are asked', async (t) => {
  const data = await mkdtemp(join(tmpdir(), 'reprise-'))
  t.teardown(() => rm(data, { recursive: true, force: true }))
  const first = await startChat(t, {}, {}, { DATA_DIR: data })
  const key = await first.organization.key({ scopes: allRag })
  const { upload, settled, datastore } = library(key)
  const id = await datastore()
  await upload(id, ...files)
  await settled(id)
  t.equal(first.provider.embedded().length, 0, 'not configured, nobody is asked')
  await first.server.stop()
  for (const model of ['one', 'two']) {
    const { provider, server } = await startChat(
      t,
      {},
      { transport },
      { DATA_DIR: data, EMBEDDING_MODEL: model },
    )
    t.ok(await eventually(meaning(server.as(key.key), id)), model)
    t.ok(provider.requests.some(({ body }) => body.model === model))
    await server.stop()
  }
})

t.test('vectors that are lost are made again, and leave with their document', async (t) => {
  const data = await mkdtemp(join(tmpdir(), 'reprise-'))
  t.teardown(() => rm(data, { recursive: true, force: true }))
  const { upload, settled, id, key, server, organization, clock } = await opened(t, {
    env: { DATA_DIR: data },
  })
  await upload(id, ...files)
  await settled(id)
  t.ok(await eventually(meaning(key, id)))
  const stored = () => blobFiles(data)
  t.ok(await eventually(async () => (await stored()).length === 6), 'bytes, chunks, vectors of two')
  const at = `/organizations/${organization.organizationId}/audit/events?type=UploadEmbedded`
  const embedded: { data: { vectorsBlob: string } }[] = (await server.platform.ask('GET', at))
    .events
  const vectors = embedded.map(({ data }) => data.vectorsBlob)
  for (const path of await stored()) if (vectors.includes(basename(path))) await rm(path)
  t.equal((await stored()).length, 4)
  await server.restart()
  const after = server.as(key.key)
  t.ok(await eventually(meaning(after, id)), 'what is lost is made again')
  t.ok(await eventually(async () => (await stored()).length === 6))
  await library(after).ask('DELETE', `/datastores/${id}/files/car.txt`)
  t.notOk(await meaning(after, id)())
  t.ok(
    await eventually(async () => {
      clock.advance(30_000)
      await server.tick()
      return (await stored()).length === 3
    }),
  )
})
