import { z } from 'zod'

/** A refusal of the server, by its code and words. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly status: number
  readonly code: string
  readonly requestId: string | undefined
  /** Seconds after which a retry may succeed. */
  readonly retryAfter: number | undefined
  /** What is wrong with each field of the request, by its path: `name`, `tools.0`. */
  readonly fields: Readonly<Record<string, string>>

  constructor(
    message: string,
    details: {
      status: number
      code: string
      requestId?: string | undefined
      retryAfter?: number | undefined
      fields?: Record<string, string>
    },
  ) {
    super(message)
    this.status = details.status
    this.code = details.code
    this.requestId = details.requestId
    this.retryAfter = details.retryAfter
    this.fields = details.fields ?? {}
  }
}

const fault = z.object({ message: z.string(), param: z.string().nullish() })
const place = z.object({ loc: z.array(z.union([z.string(), z.number()])), msg: z.string() })

/** The shapes of docs/contract/errors.md; an answer may have several of them. */
const shapes = z.object({
  error: z.union([fault, z.string()]).optional().catch(undefined),
  message: z.string().optional().catch(undefined),
  detail: z
    .union([
      z.string(),
      z.array(place),
      z.object({ error: fault }),
      z.record(z.string(), z.array(z.string())),
    ])
    .optional()
    .catch(undefined),
})

type Words = { message?: string | undefined; fields?: Record<string, string> }

const faultWords = ({ message, param }: z.infer<typeof fault>): Words => ({
  message,
  ...(param ? { fields: { [param]: message } } : {}),
})

const fieldWords = (fields: Record<string, string>): Words => ({
  fields,
  message: Object.entries(fields)
    .map(([field, words]) => `${field}: ${words}`)
    .join('. '),
})

const wordsOf = (body: unknown): Words => {
  const { success, data } = shapes.safeParse(body)
  if (!success) return {}
  const { error, message, detail } = data
  if (typeof error === 'object') return faultWords(error)
  if (message !== undefined) return { message }
  if (typeof detail === 'string') return { message: detail }
  if (Array.isArray(detail))
    return fieldWords(
      Object.fromEntries(detail.map(({ loc, msg }) => [loc.slice(1).join('.'), msg])),
    )
  if (!detail) return {}
  if ('error' in detail && !Array.isArray(detail.error)) return faultWords(detail.error)
  const entries = Object.entries(detail as Record<string, string[]>)
  return fieldWords(Object.fromEntries(entries.map(([field, words]) => [field, words.join(', ')])))
}

const secondsOf = (text: string | null): number | undefined =>
  text !== null && /^\d+$/.test(text) ? Number(text) : undefined

/** The refusal that an answer carries, from its status, headers and parsed body. */
export const problemOf = (status: number, headers: Headers, body: unknown): ApiError => {
  const { message = `The server answered ${status}`, fields = {} } = wordsOf(body)
  return new ApiError(message, {
    status,
    code: headers.get('x-error-code') ?? 'unknown',
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfter: secondsOf(headers.get('retry-after')),
    fields,
  })
}

/** The words to show for any failure: a refusal's own, or that the server cannot be reached. */
export const messageOf = (error: unknown): string => {
  if (error instanceof ApiError) return error.message
  if (error instanceof TypeError) return 'The server cannot be reached'
  return error instanceof Error ? error.message : String(error)
}

/** Whether a later attempt may succeed without a change of the request. */
export const isTransient = (error: unknown): boolean =>
  error instanceof ApiError ? error.status === 429 || error.status >= 500 : true
