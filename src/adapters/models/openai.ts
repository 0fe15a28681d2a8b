import { defer, mergeMap, retry, takeUntil, tap, throwError, timer } from 'rxjs'
import { Pool } from 'undici'
import { type Model, ModelTimeout, ModelUnavailable } from '../../ports/model.ts'
import { eventStream } from './event-stream.ts'
import { openAiAnswer } from './openai-answer.ts'
import { bodyOf } from './openai-protocol.ts'
import { countedUsage } from './token-count.ts'

export type OpenAiOptions = {
  /** As the OpenAI SDKs take it: `https://api.openai.com/v1`. */
  baseUrl: string
  apiKey?: string
  /** At most so many calls at once; more wait for one to end. */
  connections?: number
  connectMs?: number
  /** From asking to the first data. */
  firstMs?: number
  /** Between data. */
  idleMs?: number
  /** One call with all its retries. */
  totalMs?: number
  retries?: number
  /** Before the first retry; doubles with each, less up to half of it by chance. */
  backOffMs?: number
  /** In [0, 1). */
  random?: () => number
}

/** A provider that asks for a longer pause is not asked again within this call. */
const longestPauseMs = 10_000

/**
 * Any provider that speaks OpenAI's chat completions. What passes (unreachable, 5xx, 429, cut off)
 * is tried again, as long as no output has come; what does not ends in an error that holds neither
 * the key nor the provider's words.
 */
export const openAiModel = ({
  baseUrl,
  apiKey,
  connections = 1_024,
  connectMs = 5000,
  firstMs = 60_000,
  idleMs = 60_000,
  totalMs = 600_000,
  retries = 2,
  backOffMs = 250,
  random = Math.random,
}: OpenAiOptions): Model & { close(): Promise<void> } => {
  const url = new URL(baseUrl)
  const pool = new Pool(url.origin, { connections, connect: { timeout: connectMs } })
  const path = `${url.pathname.replace(/\/+$/, '')}/chat/completions${url.search}`
  const headers = {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
  }

  const pauseBefore = (attempt: number, error: ModelUnavailable) =>
    error.retryAfterMs ?? backOffMs * 2 ** (attempt - 1) * (1 - random() / 2)

  return {
    stream: (request) =>
      defer(() => {
        const post = { path, headers, body: bodyOf(request) }
        let begun = false
        const data = eventStream(pool, post, { firstMs, idleMs })
        return openAiAnswer(data, (text, calls) => countedUsage(request, text, calls)).pipe(
          tap(() => {
            begun = true
          }),
          retry({
            count: retries,
            delay: (error: unknown, attempt) => {
              if (begun || !(error instanceof ModelUnavailable)) throw error
              const pause = pauseBefore(attempt, error)
              if (pause > longestPauseMs) throw error
              return timer(pause)
            },
          }),
          takeUntil(
            timer(totalMs).pipe(
              mergeMap(() => throwError(() => new ModelTimeout(`no answer within ${totalMs} ms`))),
            ),
          ),
        )
      }),
    close: () => pool.destroy(),
  }
}
