import t from 'tap'
import { zipBomb } from '../../support/documents.ts'
import { allRag, encodedFile, library } from '../../support/library.ts'
import { startApp } from '../../support/server.ts'

const unknown = '01890000-0000-7000-8000-000000000000'
const error = (code: string, more = {}) => ({
  code,
  body: { detail: { error: { code, ...more } } },
})

t.test('POST /api/external/rag/upload: a document from upload to answer', async (t) => {
  const { platform } = await startApp(t)
  const organization = await platform.organization()
  const key = await organization.key({ scopes: [...allRag, 'agents:invoke'] })
  const { ask, datastore, upload, settled, search } = library(key)
  const id = await datastore()
  const receipt = await upload(id, encodedFile('../notes/leave.md', '# Leave\n\nSix weeks a year.'))
  t.match(receipt, {
    status: 200,
    body: {
      success: true,
      datastore_id: id,
      datastore_name: 'Library',
      uploads: [{ upload_id: /^[0-9a-f-]{36}$/, filename: 'leave.md', status: 'processing' }],
      message: String,
    },
  })
  const [{ upload_id }] = receipt.body.uploads
  const [file] = await settled(id)
  t.match(file, { upload_id, filename: 'leave.md', status: 'completed', error_message: null })
  t.match(await ask('GET', `/uploads/${upload_id}`), {
    status: 200,
    body: { ...file, datastore_id: id, datastore_name: 'Library', file_size: 26, ready: true },
  })
  t.match((await ask('GET', '/datastores')).body, {
    datastores: [{ datastore_id: id, document_count: 1, is_active: true, description: null }],
    total: 1,
  })
  t.match(await search(id, 'how many weeks of leave'), [
    {
      upload_id,
      filename: 'leave.md',
      chunk: 0,
      text: 'Six weeks a year.',
      place: 'line 3, Leave',
    },
  ])
  const agent = await organization.agent({ name: 'Librarian', datastore_ids: [id] })
  const reply = await key.ask('POST', `/api/external/agents/${agent}/completions`, {
    message: 'How many weeks of leave?',
  })
  t.match(JSON.stringify(reply.body), /Six weeks a year\.” \(leave\.md, line 3, Leave\)/)
})

t.test('the same name again replaces the file once the new one completes', async (t) => {
  const { platform } = await startApp(t)
  const key = await (await platform.organization()).key({ scopes: allRag })
  const { ask, datastore, upload, settled, search } = library(key)
  const id = await datastore()
  await upload(id, encodedFile('a.txt', 'The zebra sleeps.'))
  await settled(id)
  await upload(id, encodedFile('a.txt', ''))
  t.match(await settled(id), [{ status: 'completed' }, { status: 'failed' }])
  t.equal((await search(id, 'zebra')).length, 1)
  await upload(id, encodedFile('a.txt', 'The lion sleeps.'))
  t.match(await settled(id), { length: 1 })
  t.strictSame(await search(id, 'zebra'), [])
  t.equal((await search(id, 'lion')).length, 1)
  t.match((await ask('GET', '/datastores')).body.datastores, [{ document_count: 1 }])
})

t.test('error datastore_exists 409: names are unique, also when asked for at once', async (t) => {
  const { platform } = await startApp(t)
  const organization = await platform.organization()
  const { ask } = library(await organization.key({ scopes: allRag }))
  const create = () => ask('POST', '/datastores', { display_name: 'Terms', description: 'All' })
  const answers = await Promise.all(Array.from({ length: 12 }, create))
  const [created] = answers.filter(({ status }) => status === 200)
  t.match(created?.body, { success: true, display_name: 'Terms', description: 'All' })
  t.equal(answers.filter(({ status }) => status === 409).length, 11)
  const existing_datastore_id = created?.body.datastore_id
  t.match(await create(), { status: 409, ...error('datastore_exists', { existing_datastore_id }) })
  t.equal((await ask('GET', '/datastores')).body.total, 1)
  const other = library(await (await platform.organization()).key({ scopes: allRag }))
  t.equal((await other.ask('POST', '/datastores', { display_name: 'Terms' })).status, 200)
})

t.test('a refused upload stores nothing', async (t) => {
  const { platform } = await startApp(t)
  const { ask, datastore, upload } = library(
    await (await platform.organization()).key({ scopes: allRag }),
  )
  const id = await datastore()
  const good = encodedFile('good.txt', 'fine')
  const refused = async (files: object[], expected: object, datastore_id = id) =>
    t.match(await ask('POST', '/upload', { datastore_id, files: [good, ...files] }), expected)
  const bad = { status: 400 }
  await refused([encodedFile('a.exe', 'x')], { ...bad, ...error('unsupported_file_type') })
  await refused([{ ...encodedFile('a.pdf', 'x'), content_type: 'text/plain' }], {
    ...bad,
    ...error('unsupported_file_type', { type: 'validation_error' }),
  })
  await refused([{ filename: 'a.txt', content: 'no base64!' }], {
    ...bad,
    ...error('invalid_base64'),
  })
  await refused([{ filename: 'a.txt', content: 'YQ' }], { ...bad, ...error('invalid_base64') })
  const limit = 10 * 1024 * 1024
  await refused([encodedFile('a.txt', Buffer.alloc(limit + 1))], {
    ...bad,
    ...error('file_too_large'),
  })
  await refused([encodedFile('a.txt', Buffer.alloc(limit))], {
    status: 413,
    ...error('payload_too_large'),
  })
  await refused([encodedFile('a.txt', Buffer.alloc(11 * 1024 * 1024))], { status: 413 })
  await refused(
    [],
    { status: 404, ...error('datastore_not_found', { type: 'not_found' }) },
    unknown,
  )
  await refused(Array(10).fill(good), {
    status: 400,
    body: { detail: [{ loc: ['body', 'files'] }] },
  })
  await refused([encodedFile('a\u0007.txt', 'x')], {
    status: 400,
    body: { detail: [{ loc: ['body', 'files', 1, 'filename'], msg: /control characters/ }] },
  })
  t.match(await ask('POST', '/upload', { files: [good] }), {
    status: 400,
    body: { detail: [{ loc: ['body', 'datastore_id'], type: 'missing' }] },
  })
  t.match(await upload(id), { status: 400 })
  t.match(await ask('POST', '/datastores', {}), {
    status: 400,
    body: { detail: [{ loc: ['body', 'display_name'] }] },
  })
  t.match((await ask('GET', '/uploads')).body, { uploads: [], total: 0, limit: 50, offset: 0 })
  t.match(await ask('GET', '/uploads?status=lost'), { status: 400, body: { detail: /pending/ } })
  t.match(await ask('GET', '/uploads?limit=101'), { status: 400, body: { detail: { limit: [] } } })
  t.match(await ask('GET', `/uploads/${unknown}`), { status: 404, ...error('upload_not_found') })
  for (const path of ['/files', '/files/a.txt', ''])
    t.match(await ask(path === '/files' ? 'GET' : 'DELETE', `/datastores/${unknown}${path}`), {
      status: 404,
      ...error('datastore_not_found'),
    })
  t.match(await ask('DELETE', `/datastores/${id}/files/none.txt`), {
    status: 500,
    ...error('file_not_found', { type: 'internal_error' }),
  })
  const search = { query: 'x', limit: 51 }
  t.match(await ask('POST', `/datastores/${id}/search`, search), { status: 400 })
  t.match(await ask('POST', `/datastores/${unknown}/search`, { query: 'x' }), { status: 404 })
})

t.test('forms', async (t) => {
  const server = await startApp(t)
  const { platform } = server
  const organization = await platform.organization()
  const key = await organization.key({ scopes: allRag })
  const { datastore, settled, ask } = library(key)
  const id = await datastore()
  const { key: raw } = await platform.ask(
    'POST',
    `/organizations/${organization.organizationId}/api-keys`,
    { name: 'Form', scopes: allRag },
  )
  const send = async (fill: (form: FormData) => void, headers = {}) => {
    const form = new FormData()
    fill(form)
    const url = `${server.url}/api/external/rag/upload`
    const init = { method: 'POST', headers: { 'x-api-key': raw, ...headers }, body: form }
    const reply = await fetch(url, init)
    return { status: reply.status, headers: reply.headers, body: JSON.parse(await reply.text()) }
  }
  const file = (text: string, type = '') => new Blob([text], { type })
  const completeForm = (form: FormData) => {
    form.append('files', file('Tea is at four.', 'text/plain'), 'tea.txt')
    form.append('files', file('# Cake\n\nat five'), 'cake.md')
    form.append('datastore_id', id)
  }
  const once = { 'idempotency-key': 'form-1' }
  const first = await send(completeForm, once)
  t.match(first, {
    status: 200,
    body: { uploads: [{ filename: 'tea.txt' }, { filename: 'cake.md' }] },
  })
  t.strictSame((await send(completeForm, once)).body, first.body, 'repeated, it is answered again')
  const other = (form: FormData) => {
    form.append('datastore_id', id)
    form.append('files', file('Other.'), 'tea.txt')
  }
  t.equal((await send(other, once)).status, 409)
  const files = await settled(id)
  t.equal(files.length, 2)
  const named = (name: string) =>
    files.find(({ filename }: { filename: string }) => filename === name)
  t.match(named('tea.txt'), { status: 'completed', file_size: 15, file_type: 'text/plain' })
  t.match(named('cake.md'), { status: 'completed', file_type: 'text/markdown' })
  const bad = await send((form) => {
    form.append('datastore_id', id)
    form.append('files', file('x'), 'good.txt')
    form.append('files', file('MZ'), 'a.exe')
    form.append('files', file('y'), 'other.txt')
  })
  t.match(bad, { status: 400, body: { detail: { error: { code: 'unsupported_file_type' } } } })
  const large = await send((form) => {
    form.append('datastore_id', id)
    form.append('files', new Blob([new Uint8Array(10 * 1024 * 1024 + 1)]), 'a.txt')
  })
  t.match(large, { status: 400, body: { detail: { error: { code: 'file_too_large' } } } })
  for (const count of [11, 12, 40]) {
    const many = await send((form) => {
      form.append('datastore_id', id)
      for (let n = 0; n < count; n++) form.append('files', file('x'), `${n}.txt`)
    })
    t.match(many, { status: 400, body: { detail: [{ loc: ['body', 'files'] }] } }, `${count} files`)
  }
  t.match(await send((form) => form.append('datastore_id', id)), { status: 400 })
  t.match(await send((form) => form.append('files', file('x'), 'x.txt')), {
    status: 400,
    body: { detail: [{ loc: ['body', 'datastore_id'] }] },
  })
  t.equal((await ask('GET', '/uploads')).body.total, 2)
})

t.test('scopes, and other organizations', async (t) => {
  const { platform } = await startApp(t)
  const organization = await platform.organization()
  const own = library(await organization.key({ scopes: allRag }))
  const id = await own.datastore()
  const { body } = await own.upload(id, encodedFile('a.txt', 'The zebra sleeps.'))
  await own.settled(id)
  const elsewhere = await platform.organization()
  const strangerKey = await elsewhere.key({ scopes: [...allRag, 'agents:invoke'] })
  const stranger = library(strangerKey)
  const agent = await elsewhere.agent({ name: 'Thief', datastore_ids: [id] })
  const reply = await strangerKey.ask('POST', `/api/external/agents/${agent}/completions`, {
    message: 'Where does the zebra sleep?',
  })
  t.notMatch(JSON.stringify(reply.body), /sleeps/)
  t.match(await stranger.ask('GET', `/uploads/${body.uploads[0].upload_id}`), { status: 404 })
  t.match(await stranger.ask('GET', `/datastores/${id}/files`), { status: 404 })
  t.match(await stranger.ask('POST', `/datastores/${id}/search`, { query: 'zebra' }), {
    status: 404,
  })
  t.match(await stranger.upload(id, encodedFile('b.txt', 'x')), { status: 404 })
  t.match(await stranger.ask('DELETE', `/datastores/${id}?force=true`), { status: 404 })
  t.match((await stranger.ask('GET', `/uploads?datastore_id=${id}`)).body, { total: 0 })

  const reader = library(await organization.key({ scopes: ['rag:read'] }))
  const missing = (scope: string) => ({ status: 403, body: { missing_scopes: [scope] } })
  t.match(await reader.upload(id, encodedFile('b.txt', 'x')), missing('rag:upload'))
  t.match(await reader.ask('POST', '/datastores', { display_name: 'x' }), missing('rag:upload'))
  t.match(await reader.ask('DELETE', `/datastores/${id}`), missing('rag:delete'))
  t.match(await reader.ask('DELETE', `/datastores/${id}/files/a.txt`), missing('rag:delete'))
  const writer = library(await organization.key({ scopes: ['rag:upload'] }))
  for (const path of ['/datastores', `/datastores/${id}/files`, '/uploads', `/uploads/${id}`])
    t.match(await writer.ask('GET', path), missing('rag:read'))
})

t.test('deleting', async (t) => {
  const { platform } = await startApp(t)
  const organization = await platform.organization()
  const { ask, datastore, upload, settled, search } = library(
    await organization.key({ scopes: allRag }),
  )
  const id = await datastore()
  await upload(
    id,
    encodedFile('a b.txt', 'The zebra sleeps.'),
    encodedFile('c.txt', 'The lion sleeps.'),
  )
  await settled(id)
  t.equal((await search(id, 'zebra')).length, 1)
  t.match(await ask('DELETE', `/datastores/${id}/files/a%20b.txt`), {
    status: 200,
    body: { success: true, datastore_id: id, filename: 'a b.txt', message: String },
  })
  t.strictSame(await search(id, 'zebra'), [])
  t.equal((await search(id, 'lion')).length, 1)

  const agent = await organization.agent({ name: 'Librarian', datastore_ids: [id] })
  t.match(await ask('DELETE', `/datastores/${id}`), {
    status: 409,
    ...error('datastore_in_use', { agents: [{ agent_id: agent, name: 'Librarian' }] }),
  })
  t.match(await ask('DELETE', `/datastores/${id}?force=true`), {
    status: 200,
    body: { success: true, datastore_id: id, deleted_files: 1, message: String },
  })
  const at = `/organizations/${organization.organizationId}/agents/${agent}`
  t.strictSame((await platform.ask('GET', at)).datastore_ids, [])
  t.match(await ask('GET', '/datastores'), { body: { total: 0 } })
  t.match(await ask('GET', '/uploads'), { body: { total: 0 } })
  t.match(await ask('DELETE', `/datastores/${id}`), { status: 404 })
  t.equal(typeof (await datastore()), 'string', 'its name is free again')
})

t.test(
  'error DataStore in use 409: an unfinished upload keeps a DataStore, unless forced',
  async (t) => {
    const { platform } = await startApp(t)
    const { ask, datastore, upload } = library(
      await (await platform.organization()).key({ scopes: allRag }),
    )
    const id = await datastore()
    await upload(id, ...Array.from({ length: 8 }, (_, n) => encodedFile(`${n}.docx`, zipBomb())))
    t.match(await ask('DELETE', `/datastores/${id}`), {
      status: 409,
      ...error('datastore_in_use', { agents: [] }),
    })
    t.match(await ask('DELETE', `/datastores/${id}?force=1`), { body: { deleted_files: 8 } })
  },
)
