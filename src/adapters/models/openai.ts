import { defer, tap } from 'rxjs'
import { Pool } from 'undici'
import type { Model } from '../../ports/model.ts'
import { eventStream } from './event-stream.ts'
import { openAiAnswer } from './openai-answer.ts'
import { requestBodyOf } from './openai-protocol.ts'
import { type Patience, retried } from './retried.ts'
import { countedUsage } from './token-count.ts'

export type OpenAiOptions = Patience & {
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
}

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

  return {
    stream: (request) =>
      defer(() => {
        const post = { path, headers, body: requestBodyOf(request) }
        let begun = false
        const data = eventStream(pool, post, { firstMs, idleMs })
        return openAiAnswer(data, (text, calls) => countedUsage(request, text, calls)).pipe(
          tap(() => {
            begun = true
          }),
          retried(patience, () => begun),
        )
      }),
    close: () => pool.destroy(),
  }
}
