import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type BufferBudget, bufferBudget, type Holder } from '../../support/buffer-budget.ts'
import { inTurns } from '../../support/in-turns.ts'
import { loopSlices } from '../../support/loop-slices.ts'

/** Of one connection (docs/input-costs.md). */
export type ConnectionBounds = {
  /** Requests that are being answered. */
  inFlight: number
  /** Bytes of answers that the client has not read. No request begins beyond. */
  unsent: number
}

const usual: ConnectionBounds = { inFlight: 32, unsent: 4 * 1024 * 1024 }

/** Requests of all connections that begin in one turn of the event loop. */
const atOnce = 8

/** Requests of a connection that wait. Beyond, it is closed, unless it has one of the places. */
const mostWaiting = 64
/** Connections that may queue a whole read, which takes 10 ms to parse, within a second. */
const mostLong = 4

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

const headersOf = ({ rawHeaders }: IncomingMessage): number => rawHeaders.length * headerBytes

type Handler = (request: IncomingMessage, response: ServerResponse) => void
type Waiting = { request: IncomingMessage; response: ServerResponse; handle: Handler }

type Connection = {
  socket: Socket
  /** Answers that have begun, in the order of their requests. */
  answers: ServerResponse[]
  /** Listens to each of them. */
  closed(this: ServerResponse): void
  waiting: Waiting[]
  /** Memory of the headers of pending requests. */
  headerBytes: number
  holder: Holder
  /** Unsent bytes of the socket at the last check. */
  unsent: number
  /** Of those, the bytes of the current write not yet accepted by the system. */
  queued: unknown
  /** Consecutive checks in which the client read nothing. */
  unreadLooks: number
  /** Whether one of those that wait has a place in the line of all connections. */
  isInLine: boolean
  /** Begins it. */
  next(): void
}

const unsentOn = ({ answers, socket }: Connection): number => {
  let bytes = socket.writableLength
  for (const answer of answers) if (answer.socket === null) bytes += answer.writableLength
  return bytes
}

/**
 * Counts each request but the first. An answer behind others has a head of its own; a stream behind
 * it keeps as much again.
 */
const heldBy = ({ answers, socket, waiting, headerBytes }: Connection): number => {
  const requests = answers.length + waiting.length
  if (requests === 0) return 0
  let bytes = socket.writableLength + headerBytes + (requests - 1) * requestBytes
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

/** Whether it is read as HTTP, or as what it was upgraded to: not in between. */
const hasReader = (socket: Socket): boolean => socket.listenerCount('data') > 0

/** Node resumes a connection after each request that it has parsed: not while others wait. */
const stopReading = (socket: Socket): void => {
  if (!hasReader(socket)) return
  socket.pause()
  socket.resume = () => socket
}

const readOn = (socket: Socket): void => {
  Reflect.deleteProperty(socket, 'resume')
  if (hasReader(socket)) socket.resume()
}

/** Measures connections, and closes those that do not read. */
const watching = (ticks: Ticks, looked: () => void) => {
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
    looked()
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
  const { socket, holder } = connection
  if (!socket.destroyed) holder.hold(heldBy(connection))
}

/**
 * Bounds the concurrent requests of a connection. Further requests are queued, and the connection
 * is not read until they have begun. A few connections a second may queue a whole read (64 KiB),
 * others 64 requests. Where many requests are queued, connections take turns, one request each.
 *
 * All connections share one budget for pending requests and unread answers. A connection over it is
 * closed, and so is one that reads nothing for a minute: a refusal could not reach its client.
 */
export const boundConnection = (
  { inFlight, unsent }: ConnectionBounds = usual,
  { buffers = bufferBudget(Number.POSITIVE_INFINITY), ticks = everySecond }: Partial<Over> = {},
) => {
  const connections = new WeakMap<Socket, Connection>()
  const slices = loopSlices(atOnce)
  /** Connections with more waiting requests than others may have. */
  let long: Connection[] = []
  const watched = watching(ticks, () => {
    long = long.filter(({ waiting }) => waiting.length > 0)
  })

  const isFull = (connection: Connection): boolean => {
    const { length } = connection.answers
    return length >= inFlight || (length > 0 && unsentOn(connection) > unsent)
  }

  const answer = (
    connection: Connection,
    request: IncomingMessage,
    response: ServerResponse,
    handle: Handler,
  ): void => {
    connection.answers.push(response)
    response.on('close', connection.closed)
    if (connection.answers.length > 1) measure(connection)
    if (!connection.socket.destroyed) handle(request, response)
  }

  const enqueue = (connection: Connection): void => {
    if (connection.isInLine || connection.waiting.length === 0 || isFull(connection)) return
    connection.isInLine = true
    slices.enqueue(connection.next)
  }

  const isTooLong = (connection: Connection): boolean => {
    if (connection.waiting.length <= mostWaiting || long.includes(connection)) return false
    if (long.length === mostLong) return true
    long.push(connection)
    return false
  }

  const opened = (socket: Socket): Connection => {
    const letGo = () => {
      connection.waiting.length = 0
      connection.headerBytes = 0
    }
    const connection: Connection = {
      socket,
      answers: [],
      waiting: [],
      headerBytes: 0,
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
      isInLine: false,
      next() {
        connection.isInLine = false
        if (isFull(connection)) return
        const first = connection.waiting.shift()
        if (!first) return
        const { request, response, handle } = first
        connection.headerBytes -= headersOf(request)
        if (connection.waiting.length === 0) readOn(socket)
        answer(connection, request, response, handle)
        enqueue(connection)
      },
      closed() {
        const at = connection.answers.indexOf(this)
        if (at >= 0) connection.answers.splice(at, 1)
        measure(connection)
        enqueue(connection)
      },
    }
    connections.set(socket, connection)
    watched.add(connection)
    closeWithoutStacks(socket)
    socket.once('close', () => {
      letGo()
      connection.holder.leave()
      watched.remove(connection)
      for (const response of [...connection.answers]) closeUnsent(response)
    })
    return connection
  }

  /** Calls `handle` at once, or when its connection has a turn, unless the connection is closed. */
  return (request: IncomingMessage, response: ServerResponse, handle: Handler): void => {
    const { socket } = request
    // The rest of a read on a closed connection: dropped.
    if (socket.destroyed) return
    const connection = connections.get(socket) ?? opened(socket)
    const { waiting } = connection
    const isAlone = connection.answers.length === 0
    if (waiting.length === 0 && !isFull(connection) && (isAlone || slices.take())) {
      answer(connection, request, response, handle)
      return
    }
    waiting.push({ request, response, handle })
    connection.headerBytes += headersOf(request)
    if (isTooLong(connection)) {
      connection.holder.drop()
      return
    }
    if (waiting.length === 1) stopReading(socket)
    measure(connection)
    enqueue(connection)
  }
}

export type BoundConnection = ReturnType<typeof boundConnection>
