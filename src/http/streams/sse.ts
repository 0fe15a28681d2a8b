import type { FastifyReply } from 'fastify'
import type { WatchAccess } from '../../security/watch-access.ts'
import { type Ending, endable } from '../../support/ending.ts'
import { credentialsOf, requireStill } from '../checks/authenticate.ts'

const keepAlive = ': keep-alive\n\n'
/**
 * How long a stream is silent before a comment line keeps it alive
 * (docs/contract/streaming.md#keep-alive).
 */
export const keepAliveMs = 15_000

export type Pace = {
  /** How long nothing is sent before a comment line is; absent: none ever is. */
  silenceMs?: number
}

/**
 * What frames return that are cut off: the connection is closed behind the last one, without the
 * end of the transfer.
 */
export const cutOff = 'cut off'
export type CutOff = typeof cutOff

export type Frames = AsyncIterator<string | Uint8Array> & {
  /**
   * Is given what writes a frame while `next` is waited for, which then goes on waiting. False: the
   * client has not taken the last, and nothing was written.
   */
  pushes?(write: (frame: Uint8Array) => boolean): void
}

/**
 * Frames as fastify reads a web stream: it asks for more when the client has taken what it was
 * given. Headers go out at once, a comment line after every silence. There is no stream, as a turn
 * is followed by thousands.
 */
const frameReader = (frames: Frames, raw: FastifyReply['raw'], { silenceMs }: Pace) => {
  /** The client takes what comes. */
  let wanted = false
  let over = false

  const takes = (): boolean => wanted && !over && !raw.destroyed && !raw.writableNeedDrain
  const speak = (): void => {
    if (takes()) raw.write(keepAlive)
    silence?.refresh()
  }
  const silence = silenceMs === undefined ? undefined : setTimeout(speak, silenceMs)

  const stop = (): void => {
    over = true
    clearTimeout(silence)
  }

  const took = (piece: IteratorResult<string | Uint8Array, unknown>) => {
    wanted = false
    if (piece.done) stop()
    else if (!over) silence?.refresh()
    if (!piece.done || piece.value !== cutOff) return piece
    // What was written is sent first. Fastify waits until the connection is closed.
    raw.socket?.destroySoon()
    return new Promise<never>(() => undefined)
  }
  const failed = (error: unknown): never => {
    stop()
    throw error
  }
  const read = () => {
    wanted = true
    return frames.next().then(took, failed)
  }

  frames.pushes?.((piece) => {
    if (!takes()) return false
    raw.write(piece)
    silence?.refresh()
    return true
  })

  // They go with the first frame, where that is there already.
  process.nextTick(() => {
    if (!raw.headersSent) raw.flushHeaders()
  })

  return {
    read,
    /** The client is gone. */
    async cancel(): Promise<void> {
      stop()
      await frames.return?.()
    },
  }
}

/** Answers with frames. Fastify cancels them unread where only the headers are asked for (HEAD). */
export const sendFrames = (reply: FastifyReply, frames: Frames, pace: Pace): FastifyReply =>
  reply.send({
    locked: false,
    getReader: () => frameReader(frames, reply.raw, pace),
    async cancel(): Promise<void> {
      await frames.return?.()
    },
  })

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
export const whenGone = ({ raw }: FastifyReply, gone: () => void): void => {
  const closed = () => {
    if (!raw.writableFinished) gone()
  }
  if (raw.closed) closed()
  else raw.once('close', closed)
}

/**
 * Aborts when the client disconnects before the answer has ended, and when the key loses a right
 * that the request has needed; its reason is then the refusal.
 */
export const endingOf = (reply: FastifyReply): Ending => {
  const { request, server } = reply
  const { ending, end } = endable()
  const { apiKey = '' } = credentialsOf(request)
  const { organizationId } = request.access
  const unwatch = server.watchAccess(
    { apiKey, organizationId },
    {
      require: (access) => requireStill(request, access),
      lost: end,
    },
  )
  const { raw } = reply
  const close = () => {
    unwatch()
    if (!raw.writableFinished) end()
  }
  if (raw.closed) close()
  else raw.once('close', close)
  return ending
}
