import type { WebSocket } from '@fastify/websocket'

/** What a conversation sees of its socket. */
export type SocketConnection = {
  send(frame: string): void
  /** Undefined while there is room to send; else resolves when there is, or the client is gone. */
  room(): Promise<void> | undefined
  close(code: number, reason: string): void
  /** Aborts when nothing can be sent any more. */
  gone: AbortSignal
}

/** In milliseconds. */
export type SocketTimes = {
  /** How long a client has to authenticate. */
  auth: number
  /** How often a sign of life is asked for, and how long it may take. */
  heartbeat: number
  /** How long a client may leave what it was sent unread. */
  unread: number
  /** How long it has to answer a close, and to take what it is due when the server stops. */
  close: number
}

/** How much may wait to be read by the client, in bytes, before no more is sent. */
const roomBytes = 65_536
/** Close code: the server cannot go on now (registered with RFC 6455's). */
const tryLater = 1013

/**
 * A socket as a line: what is sent waits in memory up to a bound, and then for the client, which
 * is dropped when it reads nothing for too long.
 */
export const connectionOver = (socket: WebSocket, within: SocketTimes): SocketConnection => {
  const gone = new AbortController()
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
    gone.abort()
    wake()
    socket.close(code, reason)
    const last = setTimeout(() => socket.terminate(), within.close)
    socket.once('close', () => clearTimeout(last))
  }
  const written = () => {
    patience?.refresh()
    if (!isFull()) wake()
  }

  socket.once('close', () => {
    gone.abort()
    wake()
  })

  return {
    send(frame) {
      if (!gone.signal.aborted) socket.send(frame, written)
    },
    room() {
      if (gone.signal.aborted || !isFull()) return undefined
      patience ??= setTimeout(close, within.unread, tryLater, 'What was sent is not read')
      return new Promise((resolve) => waiting.add(resolve))
    },
    close,
    gone: gone.signal,
  }
}

/** Asks for a sign of life at every beat; a client that gave none since the last is gone. */
export const heartbeat = (socket: WebSocket, everyMs: number): void => {
  let heard = true
  const hear = () => {
    heard = true
  }
  for (const sign of ['pong', 'ping', 'message'] as const) socket.on(sign, hear)
  const beat = setInterval(() => {
    // A client that is not listened to cannot be heard.
    if (socket.isPaused) heard = true
    else if (heard) {
      heard = false
      socket.ping()
    } else socket.terminate()
  }, everyMs).unref()
  socket.once('close', () => clearInterval(beat))
}

/** Takes what a client sends, in order, and reads on when it is done and there is room to answer. */
export const listen = (
  socket: WebSocket,
  line: SocketConnection,
  take: (text: string | undefined) => Promise<void>,
): void => {
  let held = 0
  socket.on('message', async (data, isBinary) => {
    held++
    socket.pause()
    await take(isBinary ? undefined : data.toString())
    await line.room()
    if (--held === 0) socket.resume()
  })
}
