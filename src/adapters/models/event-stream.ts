import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { ModelFault, ModelTimeout } from '../../ports/model.ts'
import { brokenOff, refusedAnswer, retryAfterOf, unreached } from './provider-failure.ts'
import { sseData } from './sse-data.ts'

export type Timeouts = {
  /** From the call to the first data, including the wait for a connection. */
  firstMs: number
  /** Between data. */
  idleMs: number
}

type Post = {
  path: string
  headers: Readonly<Record<string, string>>
  /** Made anew for each attempt. */
  body(): string | AsyncIterable<string>
}

/** A body that cannot be read is no failure of the provider. */
async function* readable(body: AsyncIterable<string>): AsyncGenerator<string> {
  try {
    yield* body
  } catch (cause) {
    throw new ModelFault('a part of the request could not be read', { cause })
  }
}

/** undici sends what is iterable; its types know of streams alone. */
const bodyOf = (post: Post): string | Readable => {
  const body = post.body()
  return typeof body === 'string' ? body : (readable(body) as unknown as Readable)
}

const endMark = '[DONE]'

const eventStreamType = 'text/event-stream'
/** Answers of other types are refused; a proxy may name an event stream in any of these ways. */
const answerTypes =
  /^(?:text\/(?:event-stream|plain|json)|application\/(?:json|octet-stream|.*\+json))$/

/** A content type without its parameters, in lower case. */
const essenceOf = (header: string | string[] = eventStreamType): string => {
  const [type = ''] = String(header).split(/[;,]/, 1)
  return type.trim().toLowerCase()
}
const maxBytes = 33_554_432
const maxRefusal = 65_536
/** How long the rest of an answer may take after its end mark, to keep the connection. */
const drainMs = 1000

/** Who hears an event stream: data, then one of `complete` and `error`. */
export type Hearer = {
  /** What it throws ends the stream. */
  data(data: string): void
  /** All data was given that came together. */
  pause(): void
  complete(): void
  /** ModelUnavailable, ModelTimeout or ModelFault. */
  error(error: Error): void
}

/**
 * Posts a request and gives the data of the event stream that is its answer, without the end mark.
 * Completes with the stream, also without a mark. Uses undici's dispatch: no streams, no promises
 * in between. What it returns aborts; nothing is given after that.
 */
export const eventStream = (
  pool: Dispatcher,
  post: Post,
  { firstMs, idleMs }: Timeouts,
  hearer: Hearer,
): (() => void) => {
  let controller: Dispatcher.DispatchController | undefined
  let state: 'open' | 'draining' | 'over' = 'open'
  let bytes = 0
  let hasData = false
  /** Data was in what came last. */
  let heard = false
  let refusal: { status: number; retryAfterMs: number | undefined; body: string } | undefined

  const close = () => {
    clearTimeout(waiting)
    if (state === 'over') return
    state = 'over'
    controller?.abort(new Error('no longer wanted'))
  }
  const fail = (error: Error) => {
    if (state !== 'open') return
    close()
    hearer.error(error)
  }
  const refuse = () => {
    if (refusal) fail(refusedAnswer(refusal.status, refusal.body, refusal.retryAfterMs))
  }
  const late = () => {
    if (refusal) refuse()
    else fail(new ModelTimeout('the model provider did not answer in time'))
  }
  let waiting = setTimeout(late, firstMs)

  const events = sseData((data, type) => {
    if (state !== 'open' || data === '') return
    if (type !== undefined && type !== 'message') {
      if (type === 'error') {
        fail(brokenOff(data))
        return
      }
      // A sign of life, such as `ping`, may have any data.
      if (data !== endMark && !data.startsWith('{')) return
    }
    if (data === endMark) {
      state = 'draining'
      clearTimeout(waiting)
      waiting = setTimeout(close, drainMs).unref()
      hearer.complete()
      return
    }
    heard = true
    hearer.data(data)
  })

  const feed = (chunk: Buffer) => {
    heard = false
    events.feed(chunk)
    if (!(heard || events.isJson()) || state !== 'open') return
    if (hasData) waiting.refresh()
    else {
      clearTimeout(waiting)
      waiting = setTimeout(late, idleMs)
      hasData = true
    }
    hearer.pause()
  }

  const read = (chunk?: Buffer) => {
    try {
      if (state === 'open') chunk ? feed(chunk) : events.end()
    } catch (error) {
      fail(error instanceof Error ? error : new ModelFault('unreadable event stream'))
    }
  }

  pool.dispatch(
    {
      path: post.path,
      headers: post.headers,
      body: bodyOf(post),
      method: 'POST',
      headersTimeout: 0,
      bodyTimeout: 0,
    },
    {
      onRequestStart(started) {
        controller = started
        if (state === 'over') started.abort(new Error('no longer wanted'))
      },
      onResponseStart(_, status, headers) {
        if (status < 200) return
        if (status >= 300)
          refusal = { status, retryAfterMs: retryAfterOf(headers['retry-after']), body: '' }
        else if (!answerTypes.test(essenceOf(headers['content-type'])))
          fail(new ModelFault('the model provider did not answer with an event stream'))
      },
      onResponseData(_, chunk) {
        if (refusal) {
          refusal.body += chunk.toString()
          if (refusal.body.length > maxRefusal) refuse()
          return
        }
        bytes += chunk.length
        if (bytes > maxBytes) fail(new ModelFault('the model provider sent over 32 MiB'))
        read(chunk)
      },
      onResponseEnd() {
        refuse()
        read()
        clearTimeout(waiting)
        const unmarked = state === 'open'
        state = 'over'
        if (unmarked) hearer.complete()
      },
      onResponseError(_, error) {
        if (refusal) refuse()
        else fail(error instanceof ModelFault ? error : unreached(error, hasData))
      },
    },
  )

  return () => {
    if (state === 'open') close()
  }
}
