import { createHash } from 'node:crypto'
import { errorCodes, type FastifyRequest } from 'fastify'
import { largeBody } from './body-room.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Equal for equal bodies, for digests: the bytes of a small one, the SHA-256 of a large one.
     * Undefined when there was none.
     */
    bodyIdentity: Buffer | undefined
  }
}

/** A large body: copied and hashed as it arrives, so that no part of it is in memory twice. */
const copyOf = (most: number) => {
  const bytes = Buffer.allocUnsafeSlow(most)
  const hash = createHash('sha256')
  let length = 0
  return {
    add(chunk: Buffer): void {
      hash.update(chunk)
      length += chunk.copy(bytes, length)
    },
    bytes: () => bytes.subarray(0, length),
    digest: () => hash.digest(),
  }
}

/**
 * Reads a body, and sets its identity. One of more than 1 MB waits for room: before it is read
 * where its length is declared, else once it has come so far.
 */
export const readBody = (
  request: FastifyRequest,
  done: (error: Error | null, body?: Buffer) => void,
) => {
  const { raw: payload, headers, enterRoom } = request
  const { bodyLimit } = request.routeOptions
  const most = enterRoom ? bodyLimit : Math.min(bodyLimit, largeBody)
  const { 'content-length': length } = headers
  const declared = length === undefined ? undefined : Number(length)
  if (declared !== undefined && declared > most)
    return done(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE())
  const chunks: Buffer[] = []
  let copy: ReturnType<typeof copyOf> | undefined
  let received = 0

  const finish = (error: Error | null, body?: Buffer): void => {
    payload.off('data', add)
    payload.off('end', end)
    payload.off('error', fail)
    done(error, body)
  }

  const enter = (): void => {
    const bytes = declared ?? most
    enterRoom?.(bytes, () => {
      copy = copyOf(bytes)
      for (const chunk of chunks.splice(0)) copy.add(chunk)
      payload.resume()
    })
  }

  const add = (chunk: Buffer) => {
    received += chunk.length
    if (received > most) return finish(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE())
    if (copy) return copy.add(chunk)
    chunks.push(chunk)
    if (received <= largeBody) return
    payload.pause()
    enter()
  }

  const end = () => {
    if (declared !== undefined && received !== declared)
      return finish(new errorCodes.FST_ERR_CTP_INVALID_CONTENT_LENGTH())
    const body = copy ? copy.bytes() : Buffer.concat(chunks, received)
    request.bodyIdentity = copy ? copy.digest() : body
    // What waits for the end of the request still refers to it.
    copy = undefined
    finish(null, body)
  }

  const fail = (error: Error): void => finish(Object.assign(error, { statusCode: 400 }))

  payload.on('data', add)
  payload.on('end', end)
  payload.on('error', fail)
  if (declared !== undefined && declared > largeBody) {
    payload.pause()
    enter()
  } else payload.resume()
}
