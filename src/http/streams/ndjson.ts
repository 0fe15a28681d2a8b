import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'

const mediaType = 'application/x-ndjson'

/** Whether the client accepts one JSON document per line. */
export const wantsLines = ({ headers }: FastifyRequest): boolean =>
  headers.accept?.toLowerCase().includes(mediaType) ?? false

/** A line for each item of the batches. */
export async function* linesOf(batches: AsyncIterable<readonly unknown[]>): AsyncGenerator<string> {
  for await (const batch of batches)
    if (batch.length > 0) yield `${batch.map((one) => JSON.stringify(one)).join('\n')}\n`
}

/**
 * Answers with lines, as fast as the client reads. A failure breaks the connection: a partial
 * answer must not look complete.
 */
export const sendLines = (reply: FastifyReply, lines: AsyncIterable<string>): FastifyReply => {
  reply.header('content-type', `${mediaType}; charset=utf-8`)
  return reply.send(Readable.from(lines, { objectMode: false, highWaterMark: 65_536 }))
}
