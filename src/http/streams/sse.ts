import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { WatchAccess } from '../../security/watch-access.ts'
import { credentialsOf, requireStill } from '../checks/authenticate.ts'

const keepAlive = ': keep-alive\n\n'
/**
 * How long a stream is silent before a comment line keeps it alive
 * (docs/contract/streaming.md#keep-alive).
 */
export const keepAliveMs = 15_000

/** How long a client may leave a stream unread while there is more to send. */
const unreadMs = 60_000

type Pace = {
  /** How long nothing is sent before a comment line is; absent: none ever is. */
  silenceMs?: number
  /**
   * Called when the client has taken nothing for so long, although there was something to take: what
   * it holds is then let go. It can follow again from its place.
   */
  cut(): void
  patienceMs?: number
  /** How much is read ahead of the client, in bytes. */
  ahead?: number
}

/**
 * Frames as a stream: a comment line after every silence, and no frame made before the client has
 * taken those before. One stream and no generators between: a turn is followed by thousands.
 */
export const frameStream = (
  frames: AsyncIterator<string | Uint8Array>,
  { silenceMs, cut, patienceMs = unreadMs, ahead = 65_536 }: Pace,
): Readable => {
  /** The client takes what comes. */
  let wanted = false
  let pulling = false
  let given = 0
  let seen = 0

  const give = (frame: string | Uint8Array): void => {
    given++
    silence?.refresh()
    wanted = stream.push(frame)
  }

  const pull = (): void => {
    if (pulling) return
    pulling = true
    frames.next().then(
      ({ done, value }) => {
        pulling = false
        if (stream.destroyed) return
        if (done) stream.push(null)
        else give(value)
      },
      (error) => stream.destroy(error),
    )
  }

  const speak = (): void => {
    if (wanted) give(keepAlive)
    else silence?.refresh()
  }

  const silence = silenceMs === undefined ? undefined : setTimeout(speak, silenceMs)
  const look = setInterval(() => {
    if (!wanted && given > 0 && given === seen) cut()
    seen = given
  }, patienceMs)

  const stream = new Readable({
    highWaterMark: ahead,
    read() {
      wanted = true
      pull()
    },
    destroy(error, done) {
      clearTimeout(silence)
      clearInterval(look)
      frames.return?.().catch(() => undefined)
      done(error)
    },
  })
  return stream
}

/** One item: an `id:` line and a `data:` line. JSON has no raw line breaks. */
export const frame = (id: string, data: string): string => `id: ${id}\ndata: ${data}\n\n`

declare module 'fastify' {
  interface FastifyInstance {
    keepAliveMs: number
    watchAccess: WatchAccess
  }
}

/** Answers with a stream of frames; headers go out at once. */
export const sendStream = (
  reply: FastifyReply,
  frames: AsyncGenerator<string | Uint8Array>,
): FastifyReply => {
  reply.headers({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  })
  reply.raw.once('pipe', () => reply.raw.flushHeaders())
  const silenceMs = reply.server.keepAliveMs
  return reply.send(frameStream(frames, { silenceMs, cut: () => reply.raw.destroy() }))
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
export const endingSignal = (reply: FastifyReply): AbortSignal => {
  const { request, server } = reply
  const ending = new AbortController()
  const { apiKey = '' } = credentialsOf(request)
  const { organizationId } = request.access
  const unwatch = server.watchAccess(
    { apiKey, organizationId },
    {
      require: (access) => requireStill(request, access),
      lost: (refusal) => ending.abort(refusal),
    },
  )
  const { raw } = reply
  const close = () => {
    unwatch()
    if (!raw.writableFinished) ending.abort()
  }
  if (raw.closed) close()
  else raw.once('close', close)
  return ending.signal
}
