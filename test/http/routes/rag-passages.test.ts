import t from 'tap'
import type { client } from '../../support/client.ts'
import { allRag, encodedFile, library } from '../../support/library.ts'
import { startApp } from '../../support/server.ts'

type Client = ReturnType<typeof client>
type Passage = { chunk: number; text: string; place: string }

const unknown = '01890000-0000-7000-8000-000000000000'
const notFound = { status: 404, body: { detail: { error: { code: 'upload_not_found' } } } }
const invalid = (field: string) => ({ status: 400, body: { detail: { [field]: [String] } } })
const encoded = (cursor: string) => Buffer.from(cursor).toString('base64url')

/** A DataStore with one document. */
const withDocument = async (key: Pick<Client, 'ask'>, name: string, content: string) => {
  const { ask, datastore, upload, settled } = library(key)
  const id = await datastore()
  const { body } = await upload(id, encodedFile(name, content))
  await settled(id)
  const { upload_id } = body.uploads[0]
  const passages = (query = '') => ask('GET', `/uploads/${upload_id}/passages${query}`)
  const all = async (limit: number, cursor?: string): Promise<Passage[]> => {
    const { body } = await passages(`?limit=${limit}${cursor ? `&cursor=${cursor}` : ''}`)
    const rest = body.next_cursor ? await all(limit, body.next_cursor) : []
    return [...body.passages, ...rest]
  }
  return { id, upload_id, passages, all }
}

const sections = (count: number, text: string) =>
  Array.from({ length: count }, (_, n) => `# Part ${n}\n\n${text} ${n}.\n\n`).join('')

t.test('the passages of a document, in its order, as a search shows them', async (t) => {
  const { platform } = await startApp(t)
  const key = await (await platform.organization()).key({ scopes: allRag })
  const leave = '# Leave\n\nSix weeks a year.\n\n## Sick leave\n\nA note after three days.\n'
  const { id, upload_id, passages } = await withDocument(key, 'leave.md', leave)
  const { status, body } = await passages()
  t.equal(status, 200)
  t.strictSame(body, {
    upload_id,
    datastore_id: id,
    filename: 'leave.md',
    passages: [
      { chunk: 0, text: 'Six weeks a year.', place: 'line 3, Leave' },
      { chunk: 1, text: 'A note after three days.', place: 'line 7, Leave › Sick leave' },
    ],
    next_cursor: null,
  })
  const [first] = await library(key).search(id, 'a note')
  t.match(first, body.passages[1])
})

t.test('pages of passages have each passage once, whatever their size', async (t) => {
  const { platform } = await startApp(t)
  const key = await (await platform.organization()).key({ scopes: allRag })
  const { all } = await withDocument(key, 'parts.md', sections(30, 'Ünïcödé and "quotes"\\'))
  const everything = await all(200)
  t.strictSame(
    everything.map(({ chunk }) => chunk),
    Array.from({ length: 30 }, (_, n) => n),
  )
  for (const limit of [1, 7, 30]) t.strictSame(await all(limit), everything, `${limit} a page`)
})

t.test('a page of long passages ends at its bound of bytes, and the next continues', async (t) => {
  const { platform } = await startApp(t)
  const key = await (await platform.organization()).key({ scopes: allRag })
  const { passages, all } = await withDocument(
    key,
    'long.md',
    sections(300, `${'長'.repeat(1_200)}。`),
  )
  const { body } = await passages('?limit=200')
  t.ok(body.passages.length > 10 && body.passages.length < 200, String(body.passages.length))
  t.ok(JSON.stringify(body).length < 300_000)
  t.type(body.next_cursor, 'string')
  t.equal((await all(200)).length, 300)
})

t.test('a document that is not indexed has no passages', async (t) => {
  const { platform } = await startApp(t)
  const key = await (await platform.organization()).key({ scopes: allRag })
  const { passages } = await withDocument(key, 'empty.md', '')
  t.match(await passages(), { status: 200, body: { passages: [], next_cursor: null } })
})

t.test('error upload_not_found 404: of another organization, unknown or removed', async (t) => {
  const { platform } = await startApp(t)
  const key = await (await platform.organization()).key({ scopes: allRag })
  const stranger = library(await (await platform.organization()).key({ scopes: allRag }))
  const { id, upload_id, passages } = await withDocument(key, 'a.md', 'Secret zebra')
  const foreign = await stranger.ask('GET', `/uploads/${upload_id}/passages`)
  t.match(foreign, notFound)
  t.notMatch(JSON.stringify(foreign.body), /zebra|a\.md/)
  t.match(await stranger.ask('GET', `/uploads/${unknown}/passages`), notFound)
  const { ask } = library(key)
  await ask('DELETE', `/datastores/${id}/files/a.md`)
  t.match(await passages(), notFound)
})

t.test('error insufficient_scopes 403: passages need rag:read', async (t) => {
  const { platform } = await startApp(t)
  const organization = await platform.organization()
  const { upload_id } = await withDocument(await organization.key({ scopes: allRag }), 'a.md', 'A')
  const uploader = library(await organization.key({ scopes: ['rag:upload'] }))
  t.match(await uploader.ask('GET', `/uploads/${upload_id}/passages`), {
    status: 403,
    body: { missing_scopes: ['rag:read'] },
  })
})

t.test('error invalid_query 400: a cursor that is not of this document’s passages', async (t) => {
  const { platform } = await startApp(t)
  const key = await (await platform.organization()).key({ scopes: allRag })
  const document = await withDocument(key, 'one.md', sections(5, 'One'))
  const { body } = await document.passages('?limit=2')
  const [blob, number, place] = Buffer.from(body.next_cursor, 'base64url').toString().split(' ')
  for (const cursor of [
    'x',
    encoded('x'),
    encoded(`${blob} ${number} 0`),
    encoded(`${blob} ${number} ${Number(place) + 1}`),
    encoded(`${blob} ${number} 999999999`),
    encoded(`${'0'.repeat(8)} ${number} ${place}`),
  ])
    t.match(await document.passages(`?cursor=${cursor}`), invalid('cursor'), cursor)
  await library(key).upload(document.id, encodedFile('two.md', sections(5, 'Two')))
  const files = await library(key).settled(document.id)
  const { upload_id } = files.find(({ filename }: { filename: string }) => filename === 'two.md')
  const path = `/uploads/${upload_id}/passages?cursor=${body.next_cursor}`
  t.match(await library(key).ask('GET', path), invalid('cursor'))
  for (const query of ['?limit=0', '?limit=201'])
    t.match(await document.passages(query), invalid('limit'), query)
})
