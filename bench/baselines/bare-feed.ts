import type { ServerResponse } from 'node:http'
import Fastify from 'fastify'
import { chatPath, chatSchema, listen } from './same-bytes.ts'

/**
 * Fastify with as many followers: the delay that any server on it adds to chats. One loop writes
 * the items of all answers since the last loop.
 */

/** How often those who follow are told, as the product tells a thousand. */
const gatherMs = 250

const text = 'x'.repeat(600)
const following = new Set<ServerResponse>()
const http = Fastify()
let answerCount = 0
http.get('/api/health', async () => 'ok')
http.post(chatPath, { schema: chatSchema }, async () => {
  answerCount++
  return { text }
})
http.get('/feed', (_, reply) => {
  reply.hijack()
  const { raw } = reply
  raw.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
  raw.write('id: 0\n\n')
  following.add(raw)
  raw.once('close', () => following.delete(raw))
})
const item = `data: ${JSON.stringify({ document: text })}\n\n`
setInterval(() => {
  if (answerCount === 0) return
  const items = Buffer.from(item.repeat(answerCount))
  answerCount = 0
  for (const follower of following) follower.write(items)
}, gatherMs).unref()
process.on('SIGTERM', () => process.exit(0))
await http.listen(listen)
