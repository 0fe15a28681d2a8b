import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { prefers } from '../wire/accept.ts'
import { endingOf } from './sse.ts'

/** Whole lines, in text or bytes, some at a time. */
export type Lines = AsyncIterable<string | Uint8Array>

const mediaType = 'application/x-ndjson'
const csv = 'text/csv'

/** What a route answers with where `Accept` asks for nothing else. */
const usualOf = ({ routeOptions: { config } }: FastifyRequest): string =>
  config.streams === 'always' ? 'text/event-stream' : 'application/json'

/** Whether the client asks for one JSON document per line. */
export const wantsLines = (request: FastifyRequest): boolean => {
  const { headers, routeOptions } = request
  const others = routeOptions.config.rows ? [csv] : []
  return prefers(headers.accept, mediaType, usualOf(request), ...others)
}

/** Whether the client asks for a table. */
export const wantsRows = (request: FastifyRequest): boolean =>
  prefers(request.headers.accept, csv, usualOf(request), mediaType)

/**
 * Lines as they are sent; a HEAD request reads none, where fastify would read all and drop them.
 */
export const linesBody = ({ method }: FastifyRequest, lines: Lines): Readable =>
  Readable.from(method === 'HEAD' ? [] : lines, { objectMode: false, highWaterMark: 65_536 })

/**
 * Answers with lines, as fast as the client reads. A failure, or the loss of a right, breaks the
 * connection: a partial answer must not look complete.
 */
export const sendLines = (
  reply: FastifyReply,
  lines: Lines,
  type: string = mediaType,
): FastifyReply => {
  endingOf(reply).addEventListener('abort', () => reply.raw.destroy())
  reply.header('content-type', `${type}; charset=utf-8`)
  return reply.send(linesBody(reply.request, lines))
}

/** The same for the rows of a table, the first with the names of its columns (RFC 4180). */
export const sendRows = (reply: FastifyReply, rows: Lines): FastifyReply =>
  sendLines(reply, rows, `${csv}; header=present`)
