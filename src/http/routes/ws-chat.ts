import { setTimeout as after } from 'node:timers/promises'
import websocket from '@fastify/websocket'
import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { refusal } from '../../domain/refusal.ts'
import { authenticate, credentialsOf } from '../checks/authenticate.ts'
import type { BoundConnection } from '../checks/connection-bounds.ts'
import type { OwnPage } from '../checks/own-page.ts'
import { refuseConnection } from '../errors/client-error.ts'
import { refusals } from '../errors/responses.ts'
import {
  boundStranger,
  connectionOver,
  heartbeat,
  listen,
  type SocketTimes,
} from '../ws/connection.ts'
import { type ConversationUses, conversation } from '../ws/conversation.ts'
import { upgradesAt } from '../ws/upgrades.ts'

type Uses = Omit<ConversationUses, 'log'> & {
  boundConnection: BoundConnection
  /** What an upgrade with the console's cookie must fulfil. */
  requireOrigin: OwnPage['requireOrigin']
  requireHttps: onRequestHookHandler
  times: Partial<SocketTimes> | undefined
}

const url = '/ws/chat'
/** The largest frame: a file of 10 MB in base64, and its other fields. */
const maxPayload = 14 * 1024 * 1024
/** Before authentication, when a frame holds no more than a key. */
const strangerPayload = 16 * 1024
const usualTimes: SocketTimes = { auth: 5_000, heartbeat: 30_000, unread: 30_000, close: 1_000 }
/** Close codes (RFC 6455). */
const goingAway = 1001
const unexpected = 1011

/**
 * The WebSocket channel (docs/contract/websocket.md). A key in the headers is checked before the
 * upgrade; a client without one sends the key in a frame.
 */
export const wsChatRoutes =
  (uses: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const { findAccess, clock, requireHttps, requireOrigin, times, boundConnection } = uses
    const within = { ...usualTimes, ...times }
    const goodbyes = new Set<() => Promise<void>>()

    await http.register(websocket, {
      // One read may bring thousands of frames: each is emitted in its own turn of the event loop.
      options: { maxPayload, allowSynchronousEvents: false, server: upgradesAt(url, http.server) },
      errorHandler(err, socket, { log }) {
        log.info({ err }, 'a socket failed')
        socket.close(unexpected)
      },
      preClose(done) {
        for (const goodbye of goodbyes) void goodbye()
        done()
      },
    })

    http.websocketServer.on('wsClientError', refuseConnection(clock.id))

    /** Upgrades do not pass the server's bounds: Node tells them as an event of their own. */
    const bounded: onRequestHookHandler = ({ ws, raw }, { raw: response }, done) => {
      if (ws) boundConnection(raw, response, () => done())
      else done()
    }

    const authenticated = authenticate({ findAccess, clock, requireOwn: requireOrigin })
    const authenticatedEarly: onRequestHookHandler = (request, reply, done) => {
      const { apiKey, consoleToken } = credentialsOf(request)
      if (apiKey || consoleToken !== undefined) authenticated.call(http, request, reply, done)
      else done()
    }

    const serve = (socket: websocket.WebSocket, request: FastifyRequest): void => {
      const { log, access } = request
      const credentials = credentialsOf(request)
      const opened = performance.now()
      const connection = connectionOver(socket, within)
      const talk = conversation({ ...uses, log }, connection, { credentials, access })
      const goodbye = async () => {
        await talk.stop()
        await Promise.race([talk.answered(), after(within.close, undefined, { ref: false })])
        connection.close(goingAway, 'The server is stopping')
      }
      goodbyes.add(goodbye)
      if (!access)
        boundStranger(socket, request.raw.socket, connection, {
          most: strangerPayload,
          isKnown: talk.isKnown,
        })
      listen(socket, connection, talk.take)
      heartbeat(socket, within.heartbeat)
      const patience = setTimeout(talk.expire, within.auth)
      socket.once('close', (code) => {
        clearTimeout(patience)
        talk.gone()
        goodbyes.delete(goodbye)
        log.info({ route: url, code, ms: performance.now() - opened, ...talk.speaker }, 'socket')
      })
    }

    http.route({
      method: 'GET',
      url,
      config: { group: 'chat', answers: 'any' },
      onRequest: [bounded, requireHttps, authenticatedEarly],
      schema: {
        tags: ['chat'],
        summary: 'Upgrade to the WebSocket channel (docs/contract/websocket.md)',
        response: {
          101: z.null().describe('The channel is open'),
          ...refusals('chat', 'upgrade_required'),
        },
      },
      handler(_request, reply) {
        reply.headers({ connection: 'upgrade', upgrade: 'websocket' })
        throw refusal('upgrade_required')
      },
      wsHandler: serve,
    })
  }
