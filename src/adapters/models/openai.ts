import { Observable } from 'rxjs'
import { Pool } from 'undici'
import type { Model, ModelEvent, ModelRequest, ToolCall } from '../../ports/model.ts'
import { eventStream } from './event-stream.ts'
import { openAiAnswer } from './openai-answer.ts'
import { requestBodyOf } from './openai-protocol.ts'
import { type Patience, retried } from './retried.ts'
import { countedUsage } from './token-count.ts'

export type OpenAiOptions = Patience & {
  /** In the form of the OpenAI SDKs: `https://api.openai.com/v1`. */
  baseUrl: string
  apiKey?: string
  /** The most calls at once; further ones wait. */
  connections?: number
  connectMs?: number
  /** From the call to the first data. */
  firstMs?: number
  /** Between data. */
  idleMs?: number
  /** Told a finish reason that is not known here. */
  onUnknownReason?(reason: string): void
}

/**
 * Any provider with OpenAI's chat completions API. Temporary failures (unreachable, 5xx, 429, cut
 * off) are retried until output has come. Errors contain neither the key nor the provider's words.
 */
export const openAiModel = ({
  baseUrl,
  apiKey,
  connections = 1_024,
  connectMs = 5000,
  firstMs = 60_000,
  idleMs = 60_000,
  onUnknownReason,
  ...patience
}: OpenAiOptions): Model & { close(): Promise<void> } => {
  const url = new URL(baseUrl)
  const pool = new Pool(url.origin, { connections, connect: { timeout: connectMs } })
  const path = `${url.pathname.replace(/\/+$/, '')}/chat/completions${url.search}`
  const headers = {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
  }

  const call = (request: ModelRequest, isBuffered?: boolean) =>
    new Observable<ModelEvent>((subscriber) => {
      const { length, body } = requestBodyOf(request)
      const sized = length === undefined ? headers : { ...headers, 'content-length': `${length}` }
      const count = (text: string, calls: readonly ToolCall[]) => countedUsage(request, text, calls)
      const hearer = openAiAnswer(subscriber, count, { isBuffered, onUnknownReason })
      return eventStream(pool, { path, headers: sized, body }, { firstMs, idleMs }, hearer)
    })

  return {
    stream: (request, isBuffered) => call(request, isBuffered).pipe(retried(patience)),
    close: () => pool.destroy(),
  }
}
