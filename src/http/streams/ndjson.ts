import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'

const mediaType = 'application/x-ndjson'

/** Whether the client asks for one JSON document a line. */
export const wantsLines = ({ headers }: FastifyRequest): boolean =>
  headers.accept?.toLowerCase().includes(mediaType) ?? false

/** A line for everything in the batches. */
export async function* linesOf(batches: AsyncIterable<readonly unknown[]>): AsyncGenerator<string> {
  for await (const batch of batches)
    if (batch.length > 0) yield `${batch.map((one) => JSON.stringify(one)).join('\n')}\n`
}

/**
 * Answers with lines, pulled as fast as the client reads. What fails on the way breaks the
 * connection off: half an answer must not look like a whole one.
 */
export const sendLines = (reply: FastifyReply, lines: AsyncIterable<string>): FastifyReply => {
  reply.header('content-type', `${mediaType}; charset=utf-8`)
  return reply.send(Readable.from(lines, { objectMode: false, highWaterMark: 65_536 }))
}
