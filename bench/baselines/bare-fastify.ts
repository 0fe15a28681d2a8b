import Fastify from 'fastify'
import { type ChatBody, chatPath, chatSchema, listen, sameBytes } from './same-bytes.ts'

/** Fastify and nothing else: the ceiling of what any server on it can answer. */
const { sendJson, beginStream, endStream } = sameBytes()
const http = Fastify()
http.get('/api/health', async () => 'ok')
http.post<{ Body: ChatBody }>(chatPath, { schema: chatSchema }, async ({ body }, reply) => {
  if (!body.stream) return sendJson(reply)
  beginStream(reply)
  endStream(reply)
})
process.on('SIGTERM', () => process.exit(0))
await http.listen(listen)
