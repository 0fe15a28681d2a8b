import type { FastifyInstance } from 'fastify'
import type { Log } from '../../ports/log.ts'

type Uses = {
  /** Connections at once; undefined: any number. */
  most: number | undefined
  log: Log
  now?: () => number
}

/** How often refused connections are logged at most, in milliseconds. */
const logEveryMs = 60_000

/**
 * Limits the open connections of clients; further ones are closed at once. A connection that the
 * system cannot accept is an error event of the server, which would end the process without a
 * listener.
 */
export const limitConnections = (
  { server }: Pick<FastifyInstance, 'server'>,
  { most, log, now = () => performance.now() }: Uses,
) => {
  let refused = 0
  let logged = Number.NEGATIVE_INFINITY
  const note = (fields: object) => {
    refused++
    if (now() - logged < logEveryMs) return
    logged = now()
    log.warn({ ...fields, refused }, 'connections are refused')
  }
  if (most !== undefined) server.maxConnections = most
  server.on('drop', () => note({ most }))
  // Errors before that belong to the caller of `listen`.
  server.once('listening', () => server.on('error', (err) => note({ err })))
  return {
    /** How many were refused since the start. */
    refused: (): number => refused,
  }
}
