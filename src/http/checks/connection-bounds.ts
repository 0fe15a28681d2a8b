import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { onRequestHookHandler } from 'fastify'
import { type BufferBudget, bufferBudget, type Holder } from '../../support/buffer-budget.ts'
import { inTurns } from '../../support/in-turns.ts'

/** Of one connection (docs/decisions/0014-bounds.md). */
export type ConnectionBounds = {
  /** Requests that are being answered. */
  inFlight: number
  /** Bytes of answers that the client has not read. No request begins beyond. */
  unsent: number
}

const usual: ConnectionBounds = { inFlight: 32, unsent: 4 * 1024 * 1024 }

/** Interval between checks of connections. */
const lookMs = 1_000
/** A connection that reads nothing during this many checks is closed. */
const mostLooks = 60

/** Calls `look` from time to time, until what it returns is called. */
type Ticks = (look: () => Promise<void>) => () => void

const everySecond: Ticks = (look) => {
  const timer = setInterval(look, lookMs).unref()
  return () => clearInterval(timer)
}

type Over = {
  /** Of all connections together. */
  buffers: BufferBudget
  ticks: Ticks
}

/**
 * A parsed request and its answer, in bytes: 3 KB of memory, and as much again until it is
 * collected. Where its connection ends, Node makes an error with a stack of each.
 */
const requestBytes = 16_384
const headerBytes = 64

const costOf = ({ rawHeaders }: IncomingMessage): number =>
  requestBytes + rawHeaders.length * headerBytes

type Waiting = { response: ServerResponse; bytes: number; begin(): void }

type Connection = {
  socket: Socket
  /** Answers that have begun, in the order of their requests. */
  answers: ServerResponse[]
  /** Listens to each of them. */
  closed(this: ServerResponse): void
  waiting: Waiting[]
  /** Memory of pending requests. */
  waitingBytes: number
  holder: Holder
  /** Unsent bytes of the socket at the last check. */
  unsent: number
  /** Of those, the bytes of the current write not yet accepted by the system. */
  queued: unknown
  /** Consecutive checks in which the client read nothing. */
  unreadLooks: number
  /** Whether some of those that wait begin in the next turn of the event loop. */
  due: boolean
}

const unsentOn = ({ answers, socket }: Connection): number => {
  let bytes = socket.writableLength
  for (const answer of answers) if (answer.socket === null) bytes += answer.writableLength
  return bytes
}

/** An answer behind others has a head of its own; a stream behind it keeps as much again. */
const heldBy = ({ answers, socket, waitingBytes }: Connection): number => {
  let bytes = socket.writableLength + waitingBytes + (answers.length - 1) * requestBytes
  for (const answer of answers) if (answer.socket === null) bytes += 2 * answer.writableLength
  return bytes
}

/** Only Node's handle tells how much of a large write the system has accepted. */
const queuedOn = (socket: Socket): unknown => {
  const handle: unknown = Reflect.get(socket, '_handle')
  return typeof handle === 'object' && handle ? Reflect.get(handle, 'writeQueueSize') : undefined
}

/**
 * One read has thousands of requests. Node's parser ends where its callback fails, and not before.
 */
const stopParsing = (socket: Socket): void => {
  const parser: unknown = Reflect.get(socket, 'parser')
  if (typeof parser === 'object' && parser) Reflect.set(parser, 'onIncoming', () => -1)
}

/** Records whether the client has read anything since the last check. */
const look = (connection: Connection): void => {
  const { socket } = connection
  const unsent = socket.writableLength
  const queued = unsent > 0 ? queuedOn(socket) : 0
  const isRead = unsent < connection.unsent || queued !== connection.queued
  connection.unreadLooks = unsent === 0 || isRead ? 0 : connection.unreadLooks + 1
  connection.unsent = unsent
  connection.queued = queued
}

/**
 * Node emits no `close` on an answer that waits behind another when their connection ends: what it
 * holds (files, subscriptions) would be kept for good. `_closed` tells it to streams that are sent
 * on the answer later.
 */
const closeUnsent = (answer: ServerResponse): void => {
  if (answer.socket !== null || answer.destroyed) return
  answer.destroy()
  Reflect.set(answer, '_closed', true)
  answer.emit('close')
}

/**
 * When a connection closes, Node makes an error for each of its requests: thousands of stacks would
 * take 50 ms.
 */
const closeWithoutStacks = (socket: Socket): void => {
  let usualLimit = Error.stackTraceLimit
  socket.prependOnceListener('close', () => {
    usualLimit = Error.stackTraceLimit
    Error.stackTraceLimit = 0
  })
  socket.once('close', () => {
    Error.stackTraceLimit = usualLimit
  })
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

/** Measures connections, and closes those that do not read. */
const watching = (ticks: Ticks) => {
  const open = new Set<Connection>()
  let stop: (() => void) | undefined
  let isLooking = false

  const lookAtAll = async (): Promise<void> => {
    if (isLooking) return
    isLooking = true
    for await (const some of inTurns(open))
      for (const connection of some) {
        look(connection)
        measure(connection)
        if (connection.unreadLooks >= mostLooks) connection.socket.destroy()
      }
    isLooking = false
  }

  return {
    add(connection: Connection): void {
      open.add(connection)
      stop ??= ticks(lookAtAll)
    },
    remove(connection: Connection): void {
      open.delete(connection)
      if (open.size > 0) return
      stop?.()
      stop = undefined
    },
  }
}

const measure = (connection: Connection): void => {
  const { answers, socket, holder } = connection
  if (!socket.destroyed) holder.hold(answers.length > 0 ? heldBy(connection) : 0)
}

/**
 * Bounds what one connection has under way, before anything else is done for a request. Requests
 * beyond wait, and the connection is not read until they have begun: a client that pipelines and
 * does not read waits for itself. What arrived in the same read (64 KiB) is all that waits. Between
 * those that are answered at once the event loop turns: other connections come in between.  All
 * connections share one budget for pending requests and unread answers. Over it, or when a client
 * reads nothing for a minute, the connection is closed: a refusal could not reach its client.
 */
export const boundConnection = (
  { inFlight, unsent }: ConnectionBounds = usual,
  { buffers = bufferBudget(Number.POSITIVE_INFINITY), ticks = everySecond }: Partial<Over> = {},
): onRequestHookHandler => {
  const connections = new WeakMap<Socket, Connection>()
  const watched = watching(ticks)

  const isFull = (connection: Connection): boolean => {
    const { length } = connection.answers
    return length >= inFlight || (length > 0 && unsentOn(connection) > unsent)
  }

  const answer = (connection: Connection, response: ServerResponse, begin: () => void): void => {
    connection.answers.push(response)
    response.on('close', connection.closed)
    if (connection.answers.length > 1) measure(connection)
    if (!connection.socket.destroyed) begin()
  }

  const next = (connection: Connection): void => {
    const { waiting, socket } = connection
    connection.due = false
    if (waiting.length === 0 || socket.destroyed) return
    while (!isFull(connection)) {
      const one = waiting.shift()
      if (!one) break
      connection.waitingBytes -= one.bytes
      answer(connection, one.response, one.begin)
    }
    if (waiting.length === 0) readOn(socket)
  }

  const opened = (socket: Socket): Connection => {
    const letGo = () => {
      connection.waiting.length = 0
      connection.waitingBytes = 0
    }
    const connection: Connection = {
      socket,
      answers: [],
      waiting: [],
      waitingBytes: 0,
      holder: buffers.holder({
        isStalled: () => connection.unreadLooks > 0,
        drop() {
          letGo()
          stopParsing(socket)
          socket.destroy()
        },
      }),
      unsent: 0,
      queued: 0,
      unreadLooks: 0,
      due: false,
      closed() {
        const at = connection.answers.indexOf(this)
        if (at >= 0) connection.answers.splice(at, 1)
        measure(connection)
        if (connection.due || connection.waiting.length === 0) return
        connection.due = true
        setImmediate(next, connection)
      },
    }
    connections.set(socket, connection)
    if (socket instanceof Socket) watched.add(connection)
    closeWithoutStacks(socket)
    socket.once('close', () => {
      letGo()
      connection.holder.leave()
      watched.remove(connection)
      for (const one of [...connection.answers]) closeUnsent(one)
    })
    return connection
  }

  return ({ raw }, { raw: response }, begin) => {
    const { socket } = raw
    // The rest of a read on a closed connection: dropped.
    if (socket.destroyed) return
    const connection = connections.get(socket) ?? opened(socket)
    const { waiting } = connection
    if (waiting.length === 0 && !isFull(connection)) {
      answer(connection, response, begin)
      return
    }
    const bytes = costOf(raw)
    connection.waitingBytes += bytes
    waiting.push({ response, bytes, begin })
    if (waiting.length === 1) stopReading(socket)
    measure(connection)
  }
}
