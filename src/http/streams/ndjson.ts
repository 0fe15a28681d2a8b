import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { endingSignal } from './sse.ts'

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
 * Answers with lines, as fast as the client reads. A failure, or the loss of a right, breaks the
 * connection: a partial answer must not look complete.
 */
export const sendLines = (reply: FastifyReply, lines: AsyncIterable<string>): FastifyReply => {
  endingSignal(reply).addEventListener('abort', () => reply.raw.destroy())
  reply.header('content-type', `${mediaType}; charset=utf-8`)
  return reply.send(Readable.from(lines, { objectMode: false, highWaterMark: 65_536 }))
}
