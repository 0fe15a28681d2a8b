import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { onRequestHookHandler } from 'fastify'

/** Of one connection (docs/decisions/0014-bounds.md). */
export type ConnectionBounds = {
  /** Requests that are being answered. */
  inFlight: number
  /** Bytes of answers that the client has not read. No request begins beyond. */
  unsent: number
}

const usual: ConnectionBounds = { inFlight: 32, unsent: 4 * 1024 * 1024 }

type Waiting = { response: ServerResponse; begin(): void }

type Connection = {
  socket: Socket
  /** Answers that have begun, in the order of their requests. */
  answers: ServerResponse[]
  /** Listens to each of them. */
  closed(this: ServerResponse): void
  waiting: Waiting[]
  /** Whether some of those that wait begin in the next turn of the event loop. */
  due: boolean
}

const unsentOn = ({ answers, socket }: Connection): number => {
  let bytes = socket.writableLength
  for (const answer of answers) if (answer.socket === null) bytes += answer.writableLength
  return bytes
}

/**
 * Node emits no `close` on an answer that waits behind another when their connection ends: what it
 * holds (files, subscriptions) would be kept for good.
 */
const closeUnsent = (answer: ServerResponse): void => {
  if (answer.socket !== null || answer.destroyed) return
  answer.destroy()
  answer.emit('close')
}

/** Node resumes a connection after each request that it has parsed: not while others wait. */
const stopReading = (socket: Socket): void => {
  socket.pause()
  socket.resume = () => socket
}

const readOn = (socket: Socket): void => {
  Reflect.deleteProperty(socket, 'resume')
  socket.resume()
}

/**
 * Bounds what one connection has under way, before anything else is done for a request. Requests
 * beyond wait, and the connection is not read until they have begun: a client that pipelines and
 * does not read waits for itself. What arrived in the same read (64 KiB) is all that waits. Between
 * those that are answered at once the event loop turns: other connections come in between.
 */
export const boundConnection = ({
  inFlight,
  unsent,
}: ConnectionBounds = usual): onRequestHookHandler => {
  const connections = new WeakMap<Socket, Connection>()

  const isFull = (connection: Connection): boolean => {
    const { length } = connection.answers
    return length >= inFlight || (length > 0 && unsentOn(connection) > unsent)
  }

  const answer = (connection: Connection, response: ServerResponse, begin: () => void): void => {
    connection.answers.push(response)
    response.on('close', connection.closed)
    begin()
  }

  const next = (connection: Connection): void => {
    const { waiting, socket } = connection
    connection.due = false
    if (waiting.length === 0 || socket.destroyed) return
    while (!isFull(connection)) {
      const one = waiting.shift()
      if (!one) break
      answer(connection, one.response, one.begin)
    }
    if (waiting.length === 0) readOn(socket)
  }

  const opened = (socket: Socket): Connection => {
    const connection: Connection = {
      socket,
      answers: [],
      waiting: [],
      due: false,
      closed() {
        const at = connection.answers.indexOf(this)
        if (at >= 0) connection.answers.splice(at, 1)
        if (connection.due || connection.waiting.length === 0) return
        connection.due = true
        setImmediate(next, connection)
      },
    }
    connections.set(socket, connection)
    socket.once('close', () => {
      connection.waiting.length = 0
      for (const one of [...connection.answers]) closeUnsent(one)
    })
    return connection
  }

  return ({ raw: { socket } }, { raw: response }, begin) => {
    const connection = connections.get(socket) ?? opened(socket)
    const { waiting } = connection
    if (waiting.length === 0 && !isFull(connection)) {
      answer(connection, response, begin)
      return
    }
    waiting.push({ response, begin })
    if (waiting.length === 1) stopReading(socket)
  }
}
