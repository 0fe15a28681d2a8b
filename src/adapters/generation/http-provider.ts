import { request } from 'undici'
import { z } from 'zod'
import {
  type ContentProvider,
  type GenerationInput,
  type Prediction,
  ProviderFault,
  ProviderUnavailable,
} from '../../ports/content-provider.ts'

type Options = {
  /** Base URL of the API: `…/predictions` below it. */
  baseUrl: string
  apiKey?: string | undefined
  timeoutMs?: number
}

const answer = z.object({
  id: z.string().min(1).max(256),
  status: z.enum(['starting', 'queued', 'processing', 'succeeded', 'failed', 'canceled']),
  output: z.union([z.string(), z.array(z.string())]).nullish(),
  error: z.unknown().nullish(),
})

const wordsOf = (error: unknown): string =>
  typeof error === 'string' ? error.slice(0, 500) : 'The provider could not make it'

const predictionIn = (body: unknown): Prediction => {
  const parsed = answer.safeParse(body)
  if (!parsed.success) throw new ProviderFault('The provider answered something unexpected')
  const { id, status, output, error } = parsed.data
  const outputUrl = (Array.isArray(output) ? output[0] : output) ?? null
  if (status === 'succeeded' && !outputUrl) throw new ProviderFault('The provider gave no output')
  const waiting = status === 'starting' || status === 'queued'
  return {
    id,
    status: waiting ? 'processing' : status,
    outputUrl,
    error: status === 'failed' ? wordsOf(error) : null,
  }
}

const isPassing = (status: number): boolean => status >= 500 || status === 429 || status === 408

/** A generation provider over HTTP in the style of prediction APIs (decisions, section 5). */
export const httpContentProvider = ({
  baseUrl,
  apiKey,
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
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    }).catch((cause: Error) => {
      throw new ProviderUnavailable('The provider is out of reach', { cause })
    })
    const text = await response.body.text()
    if (isPassing(response.statusCode))
      throw new ProviderUnavailable(`The provider answered ${response.statusCode}`)
    if (response.statusCode >= 400)
      throw new ProviderFault(`The provider refused the request (${response.statusCode})`)
    try {
      return JSON.parse(text)
    } catch {
      throw new ProviderFault('The provider answered something unexpected')
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
      const response = await request(outputUrl ?? '', {
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
      }).catch((cause: Error) => {
        throw new ProviderUnavailable('The output is out of reach', { cause })
      })
      if (response.statusCode !== 200) {
        await response.body.dump()
        throw isPassing(response.statusCode)
          ? new ProviderUnavailable(`The output answered ${response.statusCode}`)
          : new ProviderFault(`The output is not there (${response.statusCode})`)
      }
      const type = response.headers['content-type']
      const mediaType = (typeof type === 'string' ? type : '').split(';')[0]?.trim()
      return { bytes: response.body, mediaType: mediaType || 'application/octet-stream' }
    },
  }
}
