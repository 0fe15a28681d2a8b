import type { Readable } from 'node:stream'
import { request } from 'undici'
import { z } from 'zod'
import {
  type ContentProvider,
  type GenerationInput,
  type Prediction,
  ProviderFault,
  ProviderUnavailable,
} from '../../ports/content-provider.ts'
import { type Outbound, OutboundRefused } from '../../ports/outbound.ts'
import { cutText } from '../../support/cut-text.ts'

type Options = {
  /** Base URL of the API: `…/predictions` below it. */
  baseUrl: string
  apiKey?: string | undefined
  /** The way to outputs: their addresses are the provider's, not the operator's. */
  outbound: Outbound
  /** For one answer; of an output, for its next bytes. */
  timeoutMs?: number | undefined
}

/** The longest answer; a longer one is refused. */
const mostAnswer = 8 * 1024 * 1024
/** For all of an output. */
const outputMs = 5 * 60_000

/** Replaces half surrogate pairs, which UTF-8 cannot encode. */
const text = z.string().transform((value) => value.toWellFormed())

const answer = z.object({
  id: text.pipe(z.string().min(1).max(256)),
  status: z.enum(['starting', 'queued', 'processing', 'succeeded', 'failed', 'canceled']),
  output: z.union([text, z.array(text)]).nullish(),
  error: z.unknown().nullish(),
})

const unexpected = 'The provider answered something unexpected'

const wordsOf = (error: unknown): string =>
  typeof error === 'string' ? cutText(error.toWellFormed(), 500) : 'The provider could not make it'

const outOfReach = (what: string) => (cause: unknown) => {
  throw new ProviderUnavailable(`${what} is out of reach`, { cause })
}

async function* reached(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes
  } catch (cause) {
    throw new ProviderUnavailable('The output broke off', { cause })
  }
}

/** @throws ProviderFault for too large an answer; errors of the connection */
const textOf = async (body: Readable): Promise<string> => {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of body) {
    size += part.length
    if (size > mostAnswer) throw new ProviderFault(unexpected)
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

const isWeb = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)

const predictionIn = (body: unknown): Prediction => {
  const parsed = answer.safeParse(body)
  if (!parsed.success) throw new ProviderFault(unexpected)
  const { id, status, output, error } = parsed.data
  const outputUrl = (Array.isArray(output) ? output[0] : output) ?? null
  if (status === 'succeeded' && !isWeb(outputUrl ?? ''))
    throw new ProviderFault('The provider gave no output')
  const waiting = status === 'starting' || status === 'queued'
  return {
    id,
    status: waiting ? 'processing' : status,
    outputUrl,
    error: status === 'failed' ? wordsOf(error) : null,
  }
}

const isPassing = (status: number): boolean => status >= 500 || status === 429 || status === 408

/**
 * A generation provider over HTTP in the style of prediction APIs
 * (docs/contract/content.md#providers).
 */
export const httpContentProvider = ({
  baseUrl,
  apiKey,
  outbound,
  timeoutMs = 30_000,
}: Options): ContentProvider => {
  const base = baseUrl.replace(/\/+$/, '')
  const headers = {
    'content-type': 'application/json',
    ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
  }

  const ask = async (
    method: 'GET' | 'POST',
    path: string,
    body?: object,
    more: Record<string, string> = {},
  ): Promise<unknown> => {
    const response = await request(`${base}${path}`, {
      method,
      headers: { ...headers, ...more },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(timeoutMs),
    }).catch(outOfReach('The provider'))
    const text = await textOf(response.body).catch((error: unknown) => {
      if (error instanceof ProviderFault) throw error
      return outOfReach('The provider')(error)
    })
    if (isPassing(response.statusCode))
      throw new ProviderUnavailable(`The provider answered ${response.statusCode}`)
    if (response.statusCode >= 400)
      throw new ProviderFault(`The provider refused the request (${response.statusCode})`)
    try {
      return JSON.parse(text)
    } catch {
      throw new ProviderFault(unexpected)
    }
  }

  const versionOf = (contentType: GenerationInput['contentType']): string =>
    `default/${contentType}`

  return {
    versionOf,
    async create({ contentType, input }, key, webhook) {
      const body = {
        version: versionOf(contentType),
        input,
        ...(webhook ? { webhook, webhook_events_filter: ['completed'] } : {}),
      }
      return predictionIn(await ask('POST', '/predictions', body, { 'idempotency-key': key }))
    },
    poll: async (id) => predictionIn(await ask('GET', `/predictions/${encodeURIComponent(id)}`)),
    async cancel(id) {
      await ask('POST', `/predictions/${encodeURIComponent(id)}/cancel`, {})
    },
    async output({ outputUrl }) {
      const signal = AbortSignal.timeout(outputMs)
      const response = await outbound.fetch(outputUrl ?? '', { signal }).catch((cause: unknown) => {
        if (cause instanceof OutboundRefused)
          throw new ProviderFault(`The output may not be fetched: ${cause.message}`)
        return outOfReach('The output')(cause)
      })
      const { status, headers, body } = response
      if (status !== 200 || !body) {
        await body?.cancel()
        throw isPassing(status)
          ? new ProviderUnavailable(`The output answered ${status}`)
          : new ProviderFault(`The output is not there (${status})`)
      }
      const mediaType = headers.get('content-type')?.split(';')[0]?.trim()
      return { bytes: reached(body), mediaType: mediaType || 'application/octet-stream' }
    },
  }
}
