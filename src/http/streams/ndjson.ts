import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { endingOf } from './sse.ts'

/** Whole lines, in text or bytes, some at a time. */
export type Lines = AsyncIterable<string | Uint8Array>

const mediaType = 'application/x-ndjson'

/** Whether the client accepts one JSON document per line. */
export const wantsLines = ({ headers }: FastifyRequest): boolean =>
  headers.accept?.toLowerCase().includes(mediaType) ?? false

/** Lines as they are sent; a HEAD request reads none, where fastify would read all and drop them. */
export const linesBody = ({ method }: FastifyRequest, lines: Lines): Readable =>
  Readable.from(method === 'HEAD' ? [] : lines, { objectMode: false, highWaterMark: 65_536 })

/**
 * Answers with lines, as fast as the client reads. A failure, or the loss of a right, breaks the
 * connection: a partial answer must not look complete.
 */
export const sendLines = (reply: FastifyReply, lines: Lines): FastifyReply => {
  endingOf(reply).addEventListener('abort', () => reply.raw.destroy())
  reply.header('content-type', `${mediaType}; charset=utf-8`)
  return reply.send(linesBody(reply.request, lines))
}
