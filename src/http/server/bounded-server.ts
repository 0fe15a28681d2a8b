import { createServer, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { FastifyServerFactory } from 'fastify'
import type { BoundConnection } from '../checks/connection-bounds.ts'

type Options = {
  /** Certificate and key; undefined: plain HTTP. */
  tls: { cert: Buffer; key: Buffer } | undefined
  /** How long a request may take to arrive, in milliseconds. */
  requestTimeout: number
  /** How long a connection without requests stays open, in milliseconds. */
  keepAliveTimeout: number
  boundConnection: BoundConnection
}

/** A request without a Host header is refused by a check, with a body, and not by Node. */
const lenient = { requireHostHeader: false }

/**
 * Node's servers for fastify. Each request passes the bounds of its connection before fastify: a
 * queued request is only what Node has parsed.
 */
export const boundedServer =
  ({ tls, boundConnection, ...times }: Options): FastifyServerFactory =>
  (handle): Server => {
    const server = tls
      ? createHttpsServer({ ...tls, ...lenient, ...times })
      : createServer({ ...lenient, ...times })
    server.on('request', (request, response) => boundConnection(request, response, handle))
    // What a client expects beyond 100-continue is passed over; Node would answer 417 by itself.
    server.on('checkExpectation', (request, response) => server.emit('request', request, response))
    return server
  }
