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

/** Frames with a comment line after every silence. */
export async function* withKeepAlive(
  frames: AsyncIterator<string>,
  silenceMs: number,
): AsyncGenerator<string> {
  let wake: () => void = () => undefined
  const timer = setTimeout(() => wake(), silenceMs)
  let next = frames.next()
  try {
    while (true) {
      const silence = new Promise<undefined>((resolve) => {
        wake = () => resolve(undefined)
      })
      timer.refresh()
      const got = await Promise.race([next, silence])
      if (!got) yield keepAlive
      else if (got.done) return
      else {
        yield got.value
        next = frames.next()
      }
    }
  } finally {
    clearTimeout(timer)
    await frames.return?.()
  }
}

/** How long a client may leave a stream unread while there is more to send. */
const unreadMs = 60_000

/**
 * Frames as they are taken. `cut` is called when the client has taken nothing for so long, although
 * there was something to take: what it holds is then let go. It can follow again from its place.
 */
export async function* cutUnread(
  frames: AsyncGenerator<string>,
  cut: () => void,
  patienceMs = unreadMs,
): AsyncGenerator<string> {
  let offered = 0
  let seen = 0
  const look = setInterval(() => {
    if (offered > 0 && offered === seen) cut()
    seen = offered
  }, patienceMs)
  let count = 0
  try {
    for await (const frame of frames) {
      offered = ++count
      yield frame
      offered = 0
    }
  } finally {
    clearInterval(look)
  }
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
export const sendStream = (reply: FastifyReply, frames: AsyncGenerator<string>): FastifyReply => {
  reply.headers({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  })
  reply.raw.once('pipe', () => reply.raw.flushHeaders())
  const alive = withKeepAlive(frames, reply.server.keepAliveMs)
  const bounded = cutUnread(alive, () => reply.raw.destroy())
  return reply.send(Readable.from(bounded, { objectMode: false, highWaterMark: 65_536 }))
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
