import { randomUUID } from 'node:crypto'
import Fastify from 'fastify'
import { type Key, open } from 'lmdb'
import { type ChatBody, chatPath, chatSchema, listen, sameBytes } from './same-bytes.ts'

/**
 * What one would write by hand for speed alone: per request two durable commits of three events
 * each, views changed in the same transaction, commits of the same moment grouped. No keys, limits,
 * encryption, agents or conflicts.
 */
const { sendJson, beginStream, endStream } = sameBytes()
const root = open({
  path: process.env.DATA_DIR ?? '',
  noSubdir: false,
  overlappingSync: false,
  mapSize: 2 ** 36,
  maxDbs: 2,
})
const events = root.openDB<unknown, number>({ name: 'events', encoding: 'json' })
const views = root.openDB<unknown, Key>({ name: 'views' })

type Waiting = { write(): void; stored(): void }
let waiting: Waiting[] = []
let position = 0

const flush = () => {
  const batch = waiting
  waiting = []
  root.transactionSync(() => {
    for (const { write } of batch) write()
  })
  for (const { stored } of batch) stored()
}

const commit = (write: () => void): Promise<void> =>
  new Promise((stored) => {
    if (waiting.length === 0) setImmediate(flush)
    waiting.push({ write, stored })
  })

const happened = (type: string, at: string, data: object) =>
  events.putSync(++position, { id: randomUUID(), type, at, key_id: 'key', data })

const http = Fastify()
http.get('/api/health', async () => 'ok')
http.post<{ Body: ChatBody }>(chatPath, { schema: chatSchema }, async ({ body }, reply) => {
  const [session_id, message_id, run_id] = [randomUUID(), randomUUID(), randomUUID()]
  const started_at = new Date().toISOString()
  const content = body.messages.at(-1)?.content
  const session = { session_id, user_id: 'user', created_at: started_at }
  await commit(() => {
    happened('SessionCreated', started_at, { session_id, user_id: 'user' })
    happened('UserMessageSent', started_at, { session_id, message_id, content })
    happened('RunStarted', started_at, { session_id, run_id, message_id })
    views.putSync(['sessions', session_id], { ...session, message_count: 1, running: true })
    views.putSync(['sessions by user', 'user', started_at, session_id], null)
    views.putSync(['messages', session_id, position], { message_id, content, started_at })
    views.putSync(['runs', run_id], { run_id, session_id, started_at, status: 'running' })
  })
  if (body.stream) beginStream(reply)
  const ended_at = new Date().toISOString()
  const answer_id = randomUUID()
  await commit(() => {
    happened('AgentCompleted', ended_at, { session_id, run_id, agent: 'Orchestrator' })
    happened('AssistantMessageRecorded', ended_at, { session_id, answer_id, content })
    happened('RunCompleted', ended_at, { session_id, run_id, completion_tokens: 20 })
    views.putSync(['sessions', session_id], { ...session, message_count: 2, running: false })
    views.removeSync(['sessions by user', 'user', started_at, session_id])
    views.putSync(['sessions by user', 'user', ended_at, session_id], null)
    views.putSync(['messages', session_id, position], { answer_id, content, ended_at })
    views.putSync(['runs', run_id], { run_id, session_id, started_at, ended_at, status: 'done' })
  })
  if (!body.stream) return sendJson(reply)
  endStream(reply)
})
process.on('SIGTERM', () => process.exit(0))
await http.listen(listen)
