import { setTimeout as after } from 'node:timers/promises'
import iconv from 'iconv-lite'
import t from 'tap'
import {
  damagedContent,
  deepHtml,
  docxOf,
  hugeJson,
  pdfLines,
  pdfOf,
  pdfOfContents,
  pdfStream,
  pptxOf,
  zipBomb,
} from '../../support/documents.ts'
import { allRag, encodedFile, library } from '../../support/library.ts'
import { startApp } from '../../support/server.ts'

type File = { filename: string; upload_id: string; status: string; error_message: string | null }

const named = (files: readonly File[], name: string) =>
  files.find(({ filename }) => filename === name)

const russian = 'Чай подают в четыре часа дня в большой комнате у реки. '.repeat(4)
const japanese = '川のそばの大きな部屋で四時にお茶が出されます。'.repeat(4)

t.test('every type is found again, with the place that it is in', async (t) => {
  const { platform } = await startApp(t)
  const organization = await platform.organization()
  const key = await organization.key({ scopes: [...allRag, 'agents:invoke'] })
  const { datastore, upload, settled, search } = library(key)
  const id = await datastore()
  const documents: [name: string, content: string | Uint8Array, query: string, place: string][] = [
    ['a.pdf', pdfOf(['The first page', 'Zebras sleep here']), 'zebras', 'page 2'],
    ['b.docx', docxOf(['# Lions', 'Lions sleep there']), 'lions', 'paragraph 2, Lions'],
    [
      'c.pptx',
      pptxOf([
        { title: 'One', text: 'nothing' },
        { title: 'Herons', text: 'Herons stand' },
      ]),
      'herons stand',
      'slide 2, Herons',
    ],
    ['d.txt', 'First line\n\nOtters swim\n', 'first line', 'line 1'],
    ['e.html', '<h1>Foxes</h1><p>Foxes run', 'foxes run', 'Foxes'],
    ['f.json', '{"animals":[{"name":"badger"}]}', 'badger', '$.animals'],
    ['g.jsonl', '{"name":"mole"}\n{"name":"vole"}\n', 'vole', 'line 2'],
    ['h.md', '# Owls\n\nOwls hoot', 'owls hoot', 'line 3, Owls'],
    ['i.txt', iconv.encode(russian, 'windows-1251'), 'чай в четыре часа', 'line 1'],
    ['j.txt', iconv.encode(japanese, 'Shift_JIS'), 'お茶', 'line 1'],
    ['k.txt', iconv.encode('Wölfe heulen', 'utf16le', { addBOM: true }), 'wölfe', 'line 1'],
  ]
  const half = documents.map(([name, content]) => encodedFile(name, content))
  t.equal((await upload(id, ...half.slice(0, 6))).status, 200)
  t.equal((await upload(id, ...half.slice(6))).status, 200)
  const files = await settled(id)
  t.strictSame(
    files.filter(({ status }: File) => status !== 'completed'),
    [],
  )
  for (const [name, , query, place] of documents) {
    const [first] = await search(id, query)
    t.match(first, { filename: name, upload_id: named(files, name)?.upload_id, score: Number })
    t.ok(first?.place.includes(place), `${name}: ${first?.place}`)
  }
  const agent = await organization.agent({ name: 'Librarian', datastore_ids: [id] })
  const answerTo = async (message: string) =>
    JSON.stringify(
      (await key.ask('POST', `/api/external/agents/${agent}/completions`, { message })).body,
    )
  t.match(await answerTo('Where do zebras sleep?'), /\(a\.pdf, page 2\)/)
  t.match(await answerTo('What do herons do?'), /\(c\.pptx, slide 2, Herons\)/)
})

t.test('files made to do harm fail with a reason, and the server goes on', async (t) => {
  const { platform, as } = await startApp(t)
  const key = await (await platform.organization()).key({ scopes: allRag })
  const { ask, datastore, upload, settled, search } = library(key)
  const id = await datastore()
  const anybody = as('')
  const small = [
    encodedFile('bomb.docx', zipBomb()),
    encodedFile('broken.pdf', pdfOf(['x']).subarray(0, 90)),
    encodedFile('deep.html', deepHtml()),
    encodedFile('good.txt', 'The zebra sleeps.'),
    encodedFile('empty.md', ''),
  ]
  t.equal((await upload(id, ...small)).status, 200)
  t.equal((await upload(id, encodedFile('huge.json', hugeJson()))).status, 200)
  let over = false
  const settling = settled(id).finally(() => {
    over = true
  })
  let answers = 0
  while (!over) {
    const { status } = await anybody.ask('GET', '/api/health')
    if (status !== 200) t.fail(`health: ${status}`)
    answers++
    await after(20)
  }
  t.ok(answers > 0)
  const files: File[] = await settling
  for (const [name, why] of [
    ['bomb.docx', /more than 64 MB/],
    ['broken.pdf', /damaged/],
    ['deep.html', /nested deeper/],
    ['huge.json', /up to 8 MB/],
    ['empty.md', /empty/],
  ] as const) {
    const file = named(files, name)
    t.match(file, { status: 'failed', error_message: why }, name)
    t.match((await ask('GET', `/uploads/${file?.upload_id}`)).body, { ready: false })
  }
  t.match(await search(id, 'zebra'), [{ filename: 'good.txt', place: 'line 1' }])
})

t.test('an upload names the pages that cannot be read, and is searched without them', async (t) => {
  const { platform } = await startApp(t)
  const { ask, datastore, upload, settled, search } = library(
    await (await platform.organization()).key({ scopes: allRag }),
  )
  const id = await datastore()
  const page = pdfStream(pdfLines('A zebra crosses to the infor-\nmation desk'))
  await upload(id, encodedFile('zoo.pdf', Buffer.from(pdfOfContents([page, damagedContent]))))
  const [file] = await settled(id)
  t.match(file, { status: 'completed' })
  t.match((await ask('GET', `/uploads/${file?.upload_id}`)).body, {
    warnings: ['Cannot be read in full: page 2'],
  })
  for (const query of ['zebra', 'information', 'infor-mation'])
    t.match(await search(id, query), [{ filename: 'zoo.pdf', place: 'page 1' }], query)
})

t.test('uploads in pages, by status and DataStore, the latest first', async (t) => {
  const { platform } = await startApp(t)
  const { ask, datastore, upload, settled } = library(
    await (await platform.organization()).key({ scopes: allRag }),
  )
  const [first, second] = [await datastore('One'), await datastore('Two')]
  for (const [id, name, text] of [
    [first, 'a.txt', 'A'],
    [second, 'b.txt', 'B'],
    [first, 'c.txt', ''],
  ] as const) {
    await upload(id, encodedFile(name, text))
    await settled(id)
  }
  const list = async (query: string) => {
    const { uploads, ...rest } = (await ask('GET', `/uploads${query}`)).body
    return { names: uploads.map(({ filename }: File) => filename), ...rest }
  }
  const page = { total: 3, limit: 50, offset: 0 }
  t.strictSame(await list(''), { names: ['c.txt', 'b.txt', 'a.txt'], ...page })
  t.strictSame(await list('?limit=2'), { names: ['c.txt', 'b.txt'], ...page, limit: 2 })
  t.match(await list('?limit=2&offset=2'), { names: ['a.txt'], total: 3, offset: 2 })
  t.match(await list('?offset=9'), { names: [], total: 3 })
  t.match(await list('?status=failed'), { names: ['c.txt'], total: 1 })
  t.match(await list(`?datastore_id=${first}`), { names: ['c.txt', 'a.txt'], total: 2 })
  t.match(await list(`?datastore_id=${first}&status=completed`), { names: ['a.txt'], total: 1 })
  t.match(await list('?datastore_id=unknown'), { names: [], total: 0 })
  const { uploads } = (await ask('GET', '/uploads')).body
  t.match(uploads[0], { datastore_id: first, datastore_name: 'One', status: 'failed' })
  t.notOk('ready' in uploads[0])
})

t.test('names in any script are found, replaced and deleted', async (t) => {
  const { platform } = await startApp(t)
  const { ask, datastore, upload, settled } = library(
    await (await platform.organization()).key({ scopes: allRag }),
  )
  const id = await datastore()
  const composed = 'Übersicht 100%?#1 – 概要.txt'.normalize('NFC')
  await upload(id, encodedFile(composed.normalize('NFD'), 'one'))
  await settled(id)
  await upload(id, encodedFile(composed, 'two'))
  t.match(await settled(id), [{ filename: composed }])
  t.equal((await ask('GET', `/datastores/${id}/files`)).body.total, 1, 'it is the same file')
  const path = `/datastores/${id}/files/${encodeURIComponent(composed.normalize('NFD'))}`
  t.match(await ask('DELETE', path), { status: 200, body: { filename: composed } })
  t.equal((await ask('DELETE', path)).status, 500)
})
