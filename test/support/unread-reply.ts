import type { EventEmitter } from 'node:events'
import type { ClientRequest, IncomingMessage } from 'node:http'

/** Resolves at the first of these events. */
export const firstEvent = (emitter: EventEmitter, ...names: readonly string[]): Promise<unknown> =>
  Promise.race(names.map((name) => new Promise((resolve) => emitter.once(name, resolve))))

/** A reply that is not read; undefined where the server has closed the connection instead. */
export const unreadReply = async (request: ClientRequest): Promise<IncomingMessage | undefined> => {
  let reply: IncomingMessage | undefined
  request.on('error', () => undefined)
  request.once('response', (response) => {
    reply = response
    reply.on('error', () => undefined)
  })
  await firstEvent(request, 'response', 'close')
  return reply
}
