import t from 'tap'
import { allRag, encoded, library } from '../support/library.ts'
import { startServer } from '../support/server.ts'

const megabyte = 1_048_576
const resident = /^process_resident_memory_bytes (\d+)/m

const memoryOf = async (url: string): Promise<number> =>
  Number(resident.exec(await (await fetch(`${url}/metrics`)).text())?.[1])

t.test('documents that are slow to read do not hold up those of others', async (t) => {
  const server = await startServer(t)
  const made = async () => {
    const organization = await server.platform.organization()
    return library(await organization.key({ scopes: allRag, rate_limit_minute: 1_000 }))
  }
  const [slow, quick] = [await made(), await made()]
  const [many, one] = [await slow.datastore(), await quick.datastore()]
  const deep = '>'.repeat(150_000)
  for (let n = 0; n < 10; n++) await slow.upload(many, encoded(`${n}.md`, `${deep}${n}`))
  t.match(await quick.upload(one, encoded('short.txt', 'Ten bytes.')), { status: 200 })
  t.match(await quick.settled(one), [{ status: 'completed' }])
  const { files } = (await slow.ask('GET', `/datastores/${many}/files`)).body
  const open = files.filter(({ status }: { status: string }) => status === 'processing')
  t.ok(open.length > 0, `${open.length} of the slow ones still wait`)
})

t.test('a document that grows when it is cut fails or fits, within the memory', async (t) => {
  const server = await startServer(t)
  const organization = await server.platform.organization()
  const { datastore, upload, settled, search } = library(await organization.key({ scopes: allRag }))
  const id = await datastore()
  const before = await memoryOf(server.url)
  const heads = Array.from(
    { length: 6 },
    (_, n) => `${'#'.repeat(n + 1)} ${'Heading '.repeat(170)}`,
  )
  const text = `${heads.join('\n\n')}\n\n${`${'zebra lion heron otter '.repeat(55)}\n\n`.repeat(4_600)}`
  t.match(await upload(id, encoded('bomb.md', text)), { status: 200 })
  const [file] = await settled(id)
  t.match(file, { status: /completed|failed/ })
  if (file.status === 'completed') t.equal((await search(id, 'zebra')).length, 10)
  const grown = (await memoryOf(server.url)) - before
  t.ok(grown < 500 * megabyte, `${Math.round(grown / megabyte)} MB`)
})

t.test('schemas and patterns made to do harm: health is answered meanwhile', async (t) => {
  const server = await startServer(t)
  const organization = await server.platform.organization()
  const at = `/organizations/${organization.organizationId}`
  const pattern = { properties: { a: { type: 'string', pattern: '^(a+)+$' } } }
  const tool = (name: string, parameters: object) => ({
    type: 'api_call',
    name,
    method: 'GET',
    url: 'https://api.invalid/',
    parameters,
  })
  const agent = await organization.agent({ name: 'Weather', tools: [tool('weather', pattern)] })
  const names = Array.from({ length: 60 }, (_, n) => `d${n}`)
  const refs = Object.fromEntries(names.map((name) => [name, { $ref: `#/$defs/${name}` }]))
  const bomb = { $defs: { d0: { properties: refs } }, properties: { d0: { $ref: '#/$defs/d0' } } }
  const made = server.platform
    .ask('POST', `${at}/agents`, { name: 'Bomb', tools: [tool('bomb', bomb)] })
    .catch((error: unknown) => error)
  const key = await organization.key({ scopes: ['agents:invoke'] })
  const asked = key.ask('POST', `/api/external/agents/${agent}/completions`, {
    message: `weather a=${'a'.repeat(60)}b`,
  })
  let answered = 0
  const healthy = async () => {
    if ((await fetch(`${server.url}/api/health`)).status === 200) answered++
  }
  let over = false
  const both = Promise.all([asked, made]).finally(() => {
    over = true
  })
  while (!over) await healthy()
  const [answer] = await both
  t.match(answer, { status: 200, body: { response: /could not be checked in time/ } })
  t.ok(answered > 0, `${answered} times`)
})
