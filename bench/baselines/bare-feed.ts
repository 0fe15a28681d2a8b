import type { ServerResponse } from 'node:http'
import Fastify from 'fastify'
import { chatPath, chatSchema, listen } from './same-bytes.ts'

/**
 * Fastify, with as many who follow: what any server on it makes those wait who chat. All are told in
 * one loop of what was answered since.
 */

/** How often those who follow are told, as the product tells a thousand. */
const gatherMs = 250

const text = 'x'.repeat(600)
const following = new Set<ServerResponse>()
const http = Fastify()
let answered = 0
http.get('/api/health', async () => 'ok')
http.post(chatPath, { schema: chatSchema }, async () => {
  answered++
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
  if (answered === 0) return
  const told = Buffer.from(item.repeat(answered))
  answered = 0
  for (const one of following) one.write(told)
}, gatherMs).unref()
process.on('SIGTERM', () => process.exit(0))
await http.listen(listen)
