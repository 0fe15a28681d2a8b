import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { WatchAccess } from '../../security/watch-access.ts'
import { credentialsOf, requireStill } from '../checks/authenticate.ts'

const comment = ': keep-alive\n\n'
/**
 * How long a stream is silent before a comment line keeps it alive
 * (docs/contract/streaming.md#keep-alive).
 */
export const keepAliveMs = 15_000

export type Pace = {
  /** How long nothing is sent before a comment line is; absent: none ever is. */
  silenceMs?: number
}

const nothing = (): void => undefined

/**
 * The return value of frames that are cut off: the connection is closed behind the last frame,
 * without the end of the transfer.
 */
export const cutOff = 'cut off'
export type CutOff = typeof cutOff

export type Frames = AsyncIterator<string | Uint8Array> & {
  /**
   * Gets a function that writes a frame while `next` is pending, which stays pending. It returns
   * false where the client has not taken the last frame, and nothing was written.
   */
  pushes?(write: (frame: Uint8Array) => boolean): void
}

/**
 * Frames as a stream that asks for the next one when the client has taken the last. Headers go out
 * at once, a comment line after every silence.
 */
const frameStream = (frames: Frames, raw: FastifyReply['raw'], { silenceMs }: Pace): Readable => {
  /** A frame is asked for: the client has taken all others. */
  let pending = false

  const push = (piece: string | Uint8Array): boolean => {
    if (!pending || stream.destroyed || raw.writableNeedDrain) return false
    stream.push(piece)
    return true
  }
  const keepAlive = (): void => {
    push(comment)
    silence?.refresh()
  }
  const silence = silenceMs === undefined ? undefined : setTimeout(keepAlive, silenceMs)

  const take = ({ done, value }: IteratorResult<string | Uint8Array, unknown>): void => {
    pending = false
    if (!done) {
      silence?.refresh()
      stream.push(value)
      return
    }
    clearTimeout(silence)
    // The frames so far are sent first. The stream stays open until the connection is closed.
    if (value === cutOff) raw.socket?.destroySoon()
    else stream.push(null)
  }

  const stream = new Readable({
    // Nothing is read ahead of the client.
    highWaterMark: 0,
    read() {
      if (pending) return
      pending = true
      frames.next().then(take, (error: Error) => stream.destroy(error))
    },
    destroy(error, callback) {
      clearTimeout(silence)
      // A generator returns once its pending frame has come: nobody waits for that.
      void frames.return?.().then(nothing, nothing)
      callback(error)
    },
  })

  frames.pushes?.((piece) => {
    const isWritten = push(piece)
    if (isWritten) silence?.refresh()
    return isWritten
  })

  // They go with the first frame, where that is there already.
  process.nextTick(() => {
    if (!raw.headersSent) raw.flushHeaders()
  })
  return stream
}

/** Answers with frames; none is read where only the headers are asked for (HEAD). */
export const sendFrames = (reply: FastifyReply, frames: Frames, pace: Pace): FastifyReply => {
  if (reply.request.method !== 'HEAD') return reply.send(frameStream(frames, reply.raw, pace))
  void frames.return?.().then(nothing, nothing)
  return reply.send(Readable.from([]))
}

/** One item: an `id:` line and a `data:` line. JSON has no raw line breaks. */
export const frame = (id: string, data: string): string => `id: ${id}\ndata: ${data}\n\n`

declare module 'fastify' {
  interface FastifyInstance {
    keepAliveMs: number
    watchAccess: WatchAccess
  }
}

/** Answers with an event stream. */
export const sendStream = (reply: FastifyReply, frames: Frames): FastifyReply => {
  reply.headers({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  })
  return sendFrames(reply, frames, { silenceMs: reply.server.keepAliveMs })
}

/** Calls back when the client disconnects before the answer has ended. */
export const whenGone = ({ raw }: FastifyReply, notify: () => void): void => {
  const closed = () => {
    if (!raw.writableFinished) notify()
  }
  if (raw.closed) closed()
  else raw.once('close', closed)
}

/**
 * Aborts when the client disconnects before the answer has ended, and when the key loses a right
 * that the request has needed; its reason is then the refusal.
 */
export const endingOf = (reply: FastifyReply): AbortSignal => {
  const { request, server } = reply
  const controller = new AbortController()
  const { apiKey, consoleToken } = credentialsOf(request)
  const { organizationId } = request.access
  const unwatch = server.watchAccess(
    { apiKey, consoleToken, organizationId },
    {
      require: (access) => requireStill(request, access),
      lost: (refused) => controller.abort(refused),
    },
  )
  const { raw } = reply
  const close = () => {
    unwatch()
    if (!raw.writableFinished) controller.abort()
  }
  if (raw.closed) close()
  else raw.once('close', close)
  return controller.signal
}
