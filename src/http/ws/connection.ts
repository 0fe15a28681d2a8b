import type { Duplex } from 'node:stream'
import type { WebSocket } from '@fastify/websocket'

/** What a conversation sees of its socket. */
export type SocketConnection = {
  send(frame: string): void
  /** Undefined while there is room to send; else resolves when there is, or the client is gone. */
  room(): Promise<void> | undefined
  close(code: number, reason: string): void
  /** Aborts when nothing more can be sent. */
  gone: AbortSignal
}

/** In milliseconds. */
export type SocketTimes = {
  /** How long a client has to authenticate. */
  auth: number
  /** How often the client is pinged, and how long its answer may take. */
  heartbeat: number
  /** How long a client may leave sent frames unread. */
  unread: number
  /**
   * How long a client has to answer a close, and to read its last answers when the server stops.
   */
  close: number
}

/** How many unread bytes may wait before no more is sent. */
const roomBytes = 65_536
/** Close code "try again later" (IANA's registry of RFC 6455 codes). */
const tryLater = 1013

/**
 * A socket with backpressure: sent frames wait in memory up to a bound, then sending waits for the
 * client, which is dropped when it reads nothing for too long.
 */
export const connectionOver = (socket: WebSocket, within: SocketTimes): SocketConnection => {
  const disconnect = new AbortController()
  const waiting = new Set<() => void>()
  let patience: NodeJS.Timeout | undefined

  const wake = () => {
    clearTimeout(patience)
    patience = undefined
    for (const resume of waiting) resume()
    waiting.clear()
  }
  const isFull = () => socket.bufferedAmount > roomBytes
  const close = (code: number, reason: string) => {
    disconnect.abort()
    wake()
    socket.close(code, reason)
    const last = setTimeout(() => socket.terminate(), within.close)
    socket.once('close', () => clearTimeout(last))
  }
  const onWritten = () => {
    patience?.refresh()
    if (!isFull()) wake()
  }

  socket.once('close', () => {
    disconnect.abort()
    wake()
  })

  return {
    send(frame) {
      if (!disconnect.signal.aborted) socket.send(frame, onWritten)
    },
    room() {
      if (disconnect.signal.aborted || !isFull()) return undefined
      patience ??= setTimeout(close, within.unread, tryLater, 'What was sent is not read')
      return new Promise((resolve) => waiting.add(resolve))
    },
    close,
    gone: disconnect.signal,
  }
}

/** What tells that a frame has arrived whole. */
const frameSigns = ['message', 'ping', 'pong'] as const

/** Close code "message too big" (RFC 6455). */
const tooBig = 1009

/**
 * Bounds a frame while a client has not authenticated: a connection that brings more bytes without
 * a whole frame is closed. What one read brings (64 KiB) may come on top.
 */
export const boundStranger = (
  socket: WebSocket,
  raw: Duplex,
  connection: SocketConnection,
  stranger: { most: number; isKnown(): boolean },
): void => {
  let bytes = 0
  const onFrame = () => {
    bytes = 0
  }
  const stop = () => {
    bytes = 0
    raw.off('data', count)
    for (const sign of frameSigns) socket.off(sign, onFrame)
  }
  const look = () => {
    if (stranger.isKnown()) return stop()
    if (bytes <= stranger.most) return
    stop()
    connection.close(tooBig, 'Before authentication a frame is at most 16 KB')
    socket.pause()
  }
  const count = (chunk: Buffer) => {
    bytes += chunk.length
    // The socket's own listener came first: the next whole frame, if it is here, is told before.
    setImmediate(look)
  }
  raw.on('data', count)
  for (const sign of frameSigns) socket.on(sign, onFrame)
}

/** Pings at every beat; a client that has sent nothing since the last ping is disconnected. */
export const heartbeat = (socket: WebSocket, everyMs: number): void => {
  let heard = true
  const hear = () => {
    heard = true
  }
  for (const sign of frameSigns) socket.on(sign, hear)
  const beat = setInterval(() => {
    // While reading is paused, nothing from the client arrives.
    if (socket.isPaused) heard = true
    else if (heard) {
      heard = false
      socket.ping()
    } else socket.terminate()
  }, everyMs).unref()
  socket.once('close', () => clearInterval(beat))
}

/**
 * Takes a client's frames in order, and reads the next when one is handled and there is room to
 * answer.
 */
export const listen = (
  socket: WebSocket,
  connection: SocketConnection,
  take: (text: string | undefined) => Promise<void>,
): void => {
  let pending = 0
  socket.on('message', async (data, isBinary) => {
    pending++
    socket.pause()
    await take(isBinary ? undefined : data.toString())
    await connection.room()
    if (--pending === 0) socket.resume()
  })
}
