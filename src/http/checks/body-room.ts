import type { FastifyRequest, preParsingHookHandler } from 'fastify'
import { fairQueue } from '../../support/fair-queue.ts'

/** Bodies of more bytes wait for room. */
export const largeBody = 1_048_576

type Bounds = {
  /** Bytes of large bodies that are in memory at once. */
  bytes?: number
  /** Of these, the bytes of one organization. */
  bytesOfOne?: number
  /** How long a body may take to arrive once there is room for it. */
  arriveMs?: number
}

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Calls back once there is room for a body of this many bytes; undefined where the body is
     * small, or no large one is taken.
     */
    enterRoom: ((bytes: number, read: () => void) => void) | undefined
    /** Set while the body has room. */
    leaveRoom: (() => void) | undefined
    /** Gives up what is in memory of the body, for routes that have taken what they need. */
    forgetBody(): void
  }
}

/**
 * Large JSON bodies wait for room before they are read, organizations in turn; the client's own
 * system holds them. Room is given up when the route forgets the body, or the request has ended.
 * One that arrives too slowly ends its connection.
 */
export const bodyRoom = ({
  bytes: room = 16_777_216,
  bytesOfOne = 14_680_064,
  arriveMs = 120_000,
}: Bounds = {}): preParsingHookHandler => {
  const waiting = fairQueue<(leave: () => void) => void>(room, bytesOfOne)

  const fill = (): void => {
    for (let next = waiting.next(); next; next = waiting.next()) {
      const { item: enter, leave } = next
      enter(() => {
        leave()
        fill()
      })
    }
  }

  return (request, reply, payload, done) => {
    const { headers, raw, access } = request
    const { 'content-length': length = '0', 'transfer-encoding': coding } = headers
    if (coding === undefined && Number(length) <= largeBody) return done(null, payload)
    request.enterRoom = (bytes, read) => {
      const enter = (leave: () => void) => {
        const late = setTimeout(() => raw.destroy(), arriveMs)
        raw.once('end', () => clearTimeout(late))
        request.leaveRoom = () => {
          clearTimeout(late)
          request.leaveRoom = undefined
          leave()
        }
        if (raw.destroyed) return request.leaveRoom()
        reply.raw.once('close', () => request.leaveRoom?.())
        read()
      }
      waiting.add(access.organizationId, enter, bytes)
      fill()
    }
    done(null, payload)
  }
}

/** As a request's method. */
export function forgetBody(this: FastifyRequest): void {
  this.body = undefined
  this.bodyIdentity = undefined
  this.leaveRoom?.()
}
