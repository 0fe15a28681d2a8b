import type { FastifyRequest, preParsingHookHandler } from 'fastify'
import { fairQueue } from '../../support/fair-queue.ts'

/** Larger bodies wait for room. */
const large = 1_048_576

type Bounds = {
  /** How many large bodies are in memory at once; one organization has all but one of them. */
  places?: number
  /** How long a body may take to arrive once there is room for it. */
  arriveMs?: number
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Gives up what is in memory of the body, for routes that have taken what they need. */
    forgetBody(): void
    /** Set while the body has a place. */
    leaveRoom: (() => void) | undefined
  }
}

const sizeOf = ({ headers }: FastifyRequest): number => {
  const { 'content-length': length, 'transfer-encoding': coding } = headers
  return coding === undefined ? Number(length ?? 0) : Number.POSITIVE_INFINITY
}

/**
 * For routes that take large bodies: they wait in front of the parser until there is room,
 * organizations in turn; meanwhile nothing of them is read, so the client's own system holds them.
 * A place is given up when the route forgets the body, or the request has ended. One that arrives
 * too slowly ends its connection.
 */
export const bodyRoom = ({ places = 4, arriveMs = 120_000 }: Bounds = {}) => {
  const waiting = fairQueue<(leave: () => void) => void>(places)

  const fill = (): void => {
    for (let next = waiting.next(); next; next = waiting.next()) {
      const { item: begin, leave } = next
      begin(() => {
        leave()
        fill()
      })
    }
  }

  const enter: preParsingHookHandler = (request, reply, payload, done) => {
    // The files of a form go to disk as they arrive.
    const form = request.headers['content-type']?.startsWith('multipart/') === true
    if (form || sizeOf(request) <= large) return done(null, payload)
    waiting.add(request.access.organizationId, (leave) => {
      const late = setTimeout(() => request.raw.destroy(), arriveMs)
      request.raw.once('end', () => clearTimeout(late))
      request.leaveRoom = () => {
        clearTimeout(late)
        request.leaveRoom = undefined
        leave()
      }
      if (request.raw.destroyed) request.leaveRoom()
      else reply.raw.once('close', () => request.leaveRoom?.())
      done(null, payload)
    })
    fill()
  }
  return enter
}

/** As a request's method. */
export function forgetBody(this: FastifyRequest): void {
  this.body = undefined
  this.rawBody = undefined
  this.leaveRoom?.()
}
