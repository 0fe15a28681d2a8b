import type { FastifyReply, FastifyRequest } from 'fastify'
import { sendFrames } from '../streams/sse.ts'

const passedOn = /^(?:accept|content-type|mcp-.*)$/

/** A request as the protocol's package takes it; its body is passed beside it. */
export const webRequest = ({ headers }: FastifyRequest, signal: AbortSignal): Request => {
  const passed = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    passedOn.test(name) && typeof value === 'string' ? [[name, value]] : [],
  )
  return new Request('http://localhost/api/external/mcp', {
    method: 'POST',
    headers: passed,
    signal,
  })
}

/** Ending the text early cancels the body. */
async function* textOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  for await (const part of body) yield decoder.decode(part, { stream: true })
}

/** Sends what the protocol's package answers; a stream that is not read is cut, as all are. */
export const sendResponse = async (
  reply: FastifyReply,
  { status, headers, body }: Response,
): Promise<FastifyReply> => {
  reply.code(status)
  for (const [name, value] of headers) reply.header(name, value)
  const text = body && textOf(body)
  if (!text) return reply.send()
  if (!headers.get('content-type')?.startsWith('text/event-stream')) {
    let json = ''
    for await (const part of text) json += part
    return reply.serializer(String).send(`${json}\n`)
  }
  return sendFrames(reply, text, {})
}
