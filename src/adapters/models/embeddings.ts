import { defer, finalize, from, lastValueFrom, map } from 'rxjs'
import { type Dispatcher, Pool } from 'undici'
import { z } from 'zod'
import type { Embedder } from '../../ports/embedder.ts'
import { ModelFault, ModelTimeout } from '../../ports/model.ts'
import { list } from '../../support/bounded-schema.ts'
import { circuit } from './circuit.ts'
import type { OpenAiOptions } from './openai.ts'
import { refusedAnswer, retryAfterOf, unreached } from './provider-failure.ts'
import { retried } from './retried.ts'

type Options = OpenAiOptions & {
  /** The provider's name for the model, and ours. */
  model: string
  name: string
}

const answer = z.object({
  data: list(z.object({ index: z.int().min(0), embedding: list(z.number()).min(1).max(16_384) })),
})

const mostBytes = 64 * 1024 * 1024

const textOf = async (body: AsyncIterable<Buffer>): Promise<string> => {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of body) {
    size += part.length
    if (size > mostBytes) throw new ModelFault('the model provider sent over 64 MiB')
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

const parsed = (text: string): z.infer<typeof answer>['data'] => {
  try {
    return answer.parse(JSON.parse(text)).data
  } catch {
    throw new ModelFault('the model provider answered what are no embeddings')
  }
}

/** As many vectors as there were texts, in their order. @throws ModelFault */
const vectorsIn = (text: string, count: number): Float32Array[] => {
  const byIndex = new Map(parsed(text).map(({ index, embedding }) => [index, embedding]))
  const vectors: Float32Array[] = []
  for (let n = 0; n < count; n++) vectors.push(Float32Array.from(byIndex.get(n) ?? []))
  const dimensions = vectors[0]?.length
  if (dimensions === 0 || vectors.some(({ length }) => length !== dimensions))
    throw new ModelFault('the model provider did not answer with a vector for each text')
  return vectors
}

const timeouts = new Set(['HeadersTimeoutError', 'BodyTimeoutError'])

const failure = (error: Error) => {
  if (error instanceof ModelFault) return error
  return timeouts.has(error.name)
    ? new ModelTimeout('the model provider did not answer in time')
    : unreached(error, false)
}

/** For one answer. A search waits for it, and documents are embedded in batches. */
const usualMs = 30_000

/**
 * Any provider with OpenAI's embeddings API, behind a circuit breaker. Temporary failures are
 * retried; errors contain neither the key nor the provider's words.
 */
export const openAiEmbedder = ({
  baseUrl,
  apiKey,
  model,
  name,
  connections = 8,
  connectMs = 5_000,
  firstMs = usualMs,
  idleMs = usualMs,
  ...patience
}: Options): Embedder & { close(): Promise<void> } => {
  const url = new URL(baseUrl)
  const pool = new Pool(url.origin, { connections, connect: { timeout: connectMs } })
  const guarded = circuit()
  const request: Dispatcher.RequestOptions = {
    method: 'POST',
    path: `${url.pathname.replace(/\/+$/, '')}/embeddings${url.search}`,
    headers: {
      'content-type': 'application/json',
      ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
    },
    headersTimeout: firstMs,
    bodyTimeout: idleMs,
  }

  const post = async (input: readonly string[], signal: AbortSignal): Promise<string> => {
    const body = JSON.stringify({ model, input, encoding_format: 'float' })
    const fetchAnswer = async () => {
      const {
        statusCode: status,
        headers,
        body: bytes,
      } = await pool.request({
        ...request,
        body,
        signal,
      })
      return { status, headers, text: await textOf(bytes) }
    }
    const { status, headers, text } = await fetchAnswer().catch((error) => {
      throw failure(error)
    })
    if (status !== 200) throw refusedAnswer(status, text, retryAfterOf(headers['retry-after']))
    return text
  }

  const once = (texts: readonly string[]) =>
    defer(() => {
      const abort = new AbortController()
      return from(post(texts, abort.signal)).pipe(finalize(() => abort.abort()))
    })

  return {
    name,
    embed: (texts, withinMs) =>
      lastValueFrom(
        guarded(() =>
          once(texts).pipe(
            retried({ ...patience, ...(withinMs === undefined ? {} : { totalMs: withinMs }) }),
            map((text) => vectorsIn(text, texts.length)),
          ),
        ),
      ),
    close: () => pool.destroy(),
  }
}
