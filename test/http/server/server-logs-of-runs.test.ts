import t from 'tap'
import { z } from 'zod'
import { type Client, user } from '../../support/client.ts'
import { eventually } from '../../support/eventually.ts'
import { allRag, encodedFile, library } from '../../support/library.ts'
import type { Reply } from '../../support/provider-double.ts'
import { apiCall, countingWorld } from '../../support/run-world.ts'
import { startServer } from '../../support/server.ts'
import { connect } from '../../support/socket.ts'

// Two lives of a server.
t.setTimeout(240_000)

const line = z.looseObject({
  level: z.number(),
  msg: z.string(),
  reqId: z.string().optional(),
  run_id: z.string().optional(),
  err: z.object({ message: z.string(), stack: z.string() }).optional(),
})

const linesOf = (output: string) =>
  output
    .split('\n')
    .filter((text) => text.startsWith('{'))
    .map((text) => line.parse(JSON.parse(text)))

/** Lines that are of the process, and of no request. */
const ofTheProcess =
  /^(?:Server listening|ready$|stopping$|stopped$|test\/model answers|projecting was interrupted)/

const accept = { accept: 'application/json, text/event-stream' }
const refused: Reply = { status: 401 }

/** With the request's id, so that its lines can be found. */
const as = (id: string) => ({ headers: { 'x-request-id': id } })

/** Everything that fails in a run, whatever it was asked by. Answers the ids of the requests. */
const failures = async (key: Client, agentId: string, next: (...replies: Reply[]) => void) => {
  const messages = user('Hi')
  const v1 = '/api/external/v1'
  const ways: Record<string, () => Promise<unknown>> = {
    whole: () => key.chat({ messages }, as('whole')),
    streamed: async () => (await key.stream({ messages }, as('streamed'))).all(),
    response: () => key.ask('POST', `${v1}/responses`, { input: 'Hi' }, as('response')),
    background: () =>
      key.ask('POST', `${v1}/responses`, { input: 'Hi', background: true }, as('background')),
    agent: () =>
      key.ask(
        'POST',
        `/api/external/agents/${agentId}/completions`,
        { message: 'Hi' },
        as('agent'),
      ),
    mcp: () =>
      key.ask(
        'POST',
        '/api/external/mcp',
        {
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: `worker_${agentId.slice(-12)}`, arguments: { message: 'Hi' } },
        },
        { headers: { ...accept, ...as('mcp').headers } },
      ),
  }
  for (const ask of Object.values(ways)) {
    next(refused)
    await ask()
  }
  const broken: [id: string, replies: Reply[]][] = [
    ['unavailable', [{ status: 503 }, { status: 503 }, { status: 503 }]],
    ['cut', [{ text: 'Half an answer', cutAfter: 2 }]],
    ['nonsense', [{ raw: 'data: nonsense\n\n' }]],
  ]
  for (const [id, replies] of broken) {
    next(...replies)
    await (await key.stream({ messages }, as(id))).all()
  }
  return [...Object.keys(ways), ...broken.map(([id]) => id)]
}

t.test(
  'each line of a request or run has the request’s id, and each cause is told once',
  async (t) => {
    const { provider, tools, env } = await countingWorld(t, { text: 'Fine.' })
    const server = await startServer(t, { ...env, EMBEDDING_MODEL: 'test/embedding' })
    const { platform } = server
    const organization = await platform.organization()
    const { organizationId } = organization
    const key = await organization.key()
    const pay = apiCall(tools.url, 'pay', 'POST')
    const worker = await organization.agent({ name: 'Worker', tools: [pay] })
    const leaving = await organization.agent({ name: 'Leaving', tools: [pay] })

    const failed = await failures(key, worker, provider.next)

    const socket = await connect(server.url, { 'x-api-key': key.key })
    provider.next(refused)
    socket.send({ type: 'message', content: 'Hi' })
    await socket.until('error')
    socket.ws.close()

    const librarian = await organization.key({ scopes: allRag })
    provider.embeddings({ status: 401 })
    const shelf = library(librarian)
    const datastore = await shelf.datastore()
    const upload = { datastore_id: datastore, files: [encodedFile('a.txt', 'Otters swim')] }
    await librarian.ask('POST', '/api/external/rag/upload', upload, as('upload'))
    await eventually(async () => server.output().includes('could not be embedded'))

    tools.hold('/pay')
    const calls: Reply = { calls: [{ name: 'pay', arguments: {} }] }
    const held: Promise<unknown>[] = []
    for (const [id, target_agent_id] of [
      ['resumed', worker],
      ['ended', leaving],
    ] as const) {
      provider.next(calls)
      const body = { messages: user('Hi'), target_agent_id, session_id: id }
      held.push(key.chat(body, as(id)).catch(() => undefined))
      await tools.received('/pay', held.length)
    }
    await platform.ask('DELETE', `/organizations/${organizationId}/agents/${leaving}`)
    await eventually(async () => server.output().includes('"reqId":"nonsense"'))
    const before = server.output()
    await server.kill9()
    await Promise.all(held)
    provider.next(refused)
    await server.restart()
    for (const session of ['resumed', 'ended'])
      await eventually(async () => {
        const { body } = await server.as(key.key).status(session)
        return body.is_processing === false
      })
    t.equal(await server.stop(), 0)

    const lines = [...linesOf(before), ...linesOf(server.output())]
    for (const entry of lines)
      if (!ofTheProcess.test(entry.msg)) t.ok(entry.reqId, `${entry.msg} has the request's id`)

    const of = (id: string) => lines.filter(({ reqId }) => reqId === id)
    const causes = (id: string) => of(id).flatMap(({ msg, err }) => (err ? [msg] : []))
    for (const id of [...failed, 'resumed']) t.strictSame(causes(id), ['a run failed'], id)
    const embedding = linesOf(before).filter(({ reqId, err }) => reqId === 'upload' && err)
    t.equal(embedding.length, 1, 'a document that could not be embedded')
    t.match(
      of('resumed').map(({ msg }) => msg),
      ['a run goes on', 'a run failed'],
    )
    t.match(
      of('ended').find(({ msg }) => msg === 'a run was ended'),
      { run_id: String, end: 'RunFailed', cause: 'the agent is gone' },
    )
    t.strictSame(causes('ended'), [], 'what is expected has no stack')
    for (const { err } of lines)
      t.notMatch(err?.stack ?? '', /caused by/i, 'one stack, without those it was wrapped in')
  },
)
