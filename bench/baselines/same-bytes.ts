import { readFileSync } from 'node:fs'
import type { FastifyReply } from 'fastify'

/** What the product answered to the request of the measurement. */
export type Recorded = { json: string; sse: string }

/** The bytes that a baseline server answers with, from the file that SAME_BYTES names. */
export const sameBytes = () => {
  const { json, sse }: Recorded = JSON.parse(readFileSync(process.env.SAME_BYTES ?? '', 'utf8'))
  const middle = sse.lastIndexOf('id: ')
  return {
    sendJson: (reply: FastifyReply) => reply.type('application/json; charset=utf-8').send(json),
    beginStream(reply: FastifyReply): void {
      reply.hijack()
      reply.raw.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
      reply.raw.write(sse.slice(0, middle))
    },
    endStream: (reply: FastifyReply): unknown => reply.raw.end(sse.slice(middle)),
  }
}

/** A chat request as far as the baselines read it. */
export type ChatBody = { stream?: boolean; messages: { role: string; content: string }[] }

export const chatSchema = {
  body: {
    type: 'object',
    required: ['messages'],
    properties: {
      stream: { type: 'boolean' },
      messages: {
        type: 'array',
        items: {
          type: 'object',
          required: ['role', 'content'],
          properties: { role: { type: 'string' }, content: { type: 'string' } },
        },
      },
    },
  },
}

export const chatPath = '/api/external/v1/chat/completions'

export const listen = { host: '127.0.0.1', port: Number(process.env.PORT) }
