import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type Client, contents, user } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { rounds } from '../support/rounds.ts'
import { startServer } from '../support/server.ts'
import { noSmallDisk, smallDisk } from '../support/small-disk.ts'

// Thousands of turns.
t.setTimeout(300_000)

const diskMb = 96
const clients = 8
/** Enough of each kind, so that a process that dies of some of them is seen to. */
const enough = rounds(100, 300)
const longText = 'A long text. '.repeat(400)

type Count = Map<string, number>

const plus = (count: Count, name: string) => count.set(name, (count.get(name) ?? 0) + 1)

const form = (datastore: string, n: number) => {
  const body = new FormData()
  body.set('datastore_id', datastore)
  const text = `# Document ${n}\n\n${`Line ${n}. `.repeat(60_000)}`
  body.set('files', new Blob([text], { type: 'text/markdown' }), `document-${n}.md`)
  return body
}

/** A server on a small disk, and clients that chat, upload and read until they are stopped. */
const underLoad = async (t: Test) => {
  const disk = await smallDisk(t, diskMb)
  const env = { DATA_DIR: join(disk.path, 'data') }
  const server = await startServer(t, env, { by: disk.by })
  const organization = await server.platform.organization({ credits: 100_000 })
  const scopes = [
    'orchestrator:invoke',
    'sessions:read',
    'sessions:messages',
    'agents:list',
    'rag:read',
    'rag:upload',
  ]
  const settings = { scopes, rate_limit_minute: 1_000, rate_limit_hour: 100_000 }
  const keys: Client[] = []
  for (let n = 0; n < 40; n++) keys.push(await organization.key(settings))
  const keyOf = (n: number) => keys[n % keys.length] as Client
  const created = await keyOf(0).ask('POST', '/api/external/rag/datastores', {
    display_name: 'Manuals',
    description: 'What our machines do',
  })
  const datastore = created.body.datastore_id as string

  /** Answers of writes and reads, by status and code. */
  const writes: Count = new Map()
  const reads: Count = new Map()
  const accepted: { key: Client; session: string; text: string }[] = []
  let stopped = false
  let sent = 0

  const chat = async () => {
    const n = sent++
    const [key, session, text] = [keyOf(n), `session-${n % 200}`, `${n}: ${longText}`]
    const { status, code } = await key.chat({ messages: user(text), session_id: session })
    plus(writes, `chat ${status} ${code ?? ''}`.trim())
    if (status === 200) accepted.push({ key, session, text })
  }
  const upload = async () => {
    const n = sent++
    const reply = await fetch(new URL('/api/external/rag/upload', server.url), {
      method: 'POST',
      headers: { 'x-api-key': keyOf(n).key },
      body: form(datastore, n),
    })
    await reply.arrayBuffer()
    plus(writes, `upload ${reply.status} ${reply.headers.get('x-error-code') ?? ''}`.trim())
  }
  const read = async () => {
    const n = sent++
    const { session } = accepted[n % accepted.length] ?? {}
    const paths = ['/sessions', '/agents', '/rag/datastores', '/rag/uploads']
    if (session) paths.push(`/sessions/${session}/messages?limit=5`)
    const path = paths[n % paths.length] as string
    const owner = path.includes('/messages') ? accepted[n % accepted.length]?.key : undefined
    const reply = await (owner ?? keyOf(n)).ask('GET', `/api/external${path}`)
    plus(reads, `${reply.status} ${reply.code ?? ''}`.trim())
  }
  const repeat = async (work: () => Promise<void>) => {
    while (!stopped) {
      await work()
      // A refusal comes at once: a key may ask only so much in a minute.
      await after(5)
    }
  }
  const running = [
    ...Array.from({ length: clients }, () => repeat(chat)),
    repeat(upload),
    ...Array.from({ length: 2 }, () => repeat(read)),
  ]
  return {
    disk,
    server,
    organization,
    writes,
    reads,
    accepted,
    /** Resolves once so many answers of a kind have come since the call. */
    async answered(count: Count, name: string, more = enough): Promise<void> {
      const before = count.get(name) ?? 0
      const waited = eventually(async () => (count.get(name) ?? 0) >= before + more)
      await Promise.race([waited, Promise.all(running)]).catch((cause) => {
        const replies = JSON.stringify([...writes, ...reads])
        throw new Error(`not ${more} more of ${name}: ${replies}`, { cause })
      })
    },
    async stop(): Promise<void> {
      stopped = true
      await Promise.all(running)
    },
  }
}

type Load = Awaited<ReturnType<typeof underLoad>>

const readiness = async ({ server }: Load) => {
  const reply = await fetch(new URL('/api/health/ready', server.url))
  const body = (await reply.json()) as { checks: Record<string, object> }
  return { status: reply.status, body }
}

/** Everything that was accepted is there, also after a kill. */
const lostNothing = async (t: Test, { server, accepted }: Load) => {
  const missing = async () => {
    const stored = new Map<string, readonly string[]>()
    let missed = 0
    for (const { key, session, text } of accepted) {
      const name = `${key.key} ${session}`
      const texts = stored.get(name) ?? (await contents(server.as(key.key), session))
      stored.set(name, texts)
      if (!texts.includes(text)) missed++
    }
    return missed
  }
  t.equal(await missing(), 0, 'nothing that was accepted is lost')
  await server.kill9()
  await server.restart()
  t.equal(await missing(), 0, 'nor after a kill')
}

const skip = noSmallDisk()

for (const [title, fill] of [
  ['the load fills the disk', (load: Load) => load.disk.take(60)],
  ['a neighbour fills the disk to the last byte', (load: Load) => load.disk.take(diskMb)],
] as const)
  t.test(
    `${title}: writes get 503, reads go on, and so do writes once it is emptied`,
    { skip },
    async (t) => {
      const load = await underLoad(t)
      const { disk, writes, reads } = load
      await load.answered(writes, 'chat 200', 100)
      await load.answered(writes, 'upload 200', 1)
      await fill(load)
      await load.answered(writes, 'chat 503 service_unavailable')
      await load.answered(writes, 'upload 503 service_unavailable', 5)
      await load.answered(reads, '200', 100)
      const full = await readiness(load)
      t.equal(full.status, 503)
      t.match(full.body.checks.disk, { ok: false, detail: /MiB free, reserve 12 MiB.*events/ })
      const metrics = await (await fetch(new URL('/metrics', load.server.url))).text()
      t.match(metrics, /^reprise_disk_free_bytes \d/m)
      const lines = load.server.output().matchAll(/"use":"(\w+)".*"msg":"the disk is nearly full/g)
      const uses = [...lines].map(([, use = '']) => use)
      t.strictSame(uses.toSorted(), [...new Set(uses)].toSorted(), 'it is logged once for each use')

      await disk.empty()
      await load.answered(writes, 'chat 200')
      await load.answered(writes, 'upload 200', 3)
      await load.stop()
      t.strictSame(
        [...writes.keys()].sort(),
        [
          'chat 200',
          'chat 503 service_unavailable',
          'upload 200',
          'upload 503 service_unavailable',
        ],
        'every write that is refused gets 503',
      )
      t.strictSame([...reads.keys()], ['200'], 'every read is answered')
      await eventually(async () => (await readiness(load)).status === 200)
      await lostNothing(t, load)
    },
  )
