import { z } from 'zod'
import {
  ContextTooLong,
  ModelFault,
  ModelMisconfigured,
  ModelUnavailable,
} from '../../ports/model.ts'

/**
 * The form of `error.code` and `error.type` that is passed on: words only, so that no secret gets
 * through.
 */
const code = z.string().regex(/^[\w.-]{1,64}$/)

const providerError = z.object({
  code: z.union([z.number(), code]).nullish().catch(null),
  type: code.nullish().catch(null),
  /** Google's word for the code. */
  status: code.nullish().catch(null),
  message: z.string().nullish().catch(null),
})

type ProviderError = z.infer<typeof providerError>

const fields = z.record(z.string(), z.unknown())

/** Where providers put an error: in `error`, in the choice, or at the top; Google in an array. */
const errorFields = z.union([
  z.object({ error: fields }).transform(({ error }) => error),
  z
    .looseObject({ error: z.string() })
    .transform(({ error, ...rest }) => ({ ...rest, message: error })),
  z
    .object({ choices: z.tuple([z.object({ error: fields })]) })
    .transform(({ choices: [{ error }] }) => error),
  z.looseObject({ message: z.string() }),
])

const errorIn = (text: string): ProviderError | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return providerError.parse(errorFields.parse(Array.isArray(value) ? value[0] : value))
  } catch {
    return undefined
  }
}

/** Busy or broken: the same request may succeed later. */
const passing = (status: number) => status >= 500 || status === 429 || status === 408

/** How providers say that a conversation is too long: by code, or only in words. */
const tooLong = new RegExp(
  [
    'context.?(?:length|window|size|limit)|(?:prompt|input|request) is too long',
    'maximum (?:prompt|model) length|range of input length',
    'input token count.{0,32}exceeds the maximum',
  ].join('|'),
  'i',
)

/** A server may say so with 500, which the same request would get again. */
const tooLongStatuses: ReadonlySet<number> = new Set([400, 413, 422, 500])

/** Characters of a message that are searched. */
const mostWords = 2_000

const isTooLong = (status: number, error: ProviderError | undefined): boolean =>
  tooLongStatuses.has(status) &&
  tooLong.test(`${error?.code} ${error?.type} ${error?.message?.slice(0, mostWords)}`)

const failure = (
  status: number,
  why: string,
  error: ProviderError | undefined,
  retryAfterMs?: number,
) => {
  const message = `the model provider answered ${why}`
  if (isTooLong(status, error)) return new ContextTooLong(message)
  return passing(status)
    ? new ModelUnavailable(message, { retryAfterMs, isBusy: status === 429 })
    : new ModelMisconfigured(message)
}

/** In milliseconds; undefined when the provider gave none, or a date. */
export const retryAfterOf = (header: string | string[] | undefined): number | undefined => {
  const seconds = typeof header === 'string' ? Number.parseFloat(header) : Number.NaN
  return seconds >= 0 ? seconds * 1000 : undefined
}

/**
 * The error for an answer that is not an event stream. It has only the status and the error code.
 */
export const refusedAnswer = (status: number, body: string, retryAfterMs: number | undefined) => {
  const error = errorIn(body)
  const name = error?.code ?? error?.type ?? error?.status
  return failure(status, name ? `${status} (${name})` : `${status}`, error, retryAfterMs)
}

/** The status that providers give an error with such a word for its code or type. */
const statusWords: readonly (readonly [RegExp, number])[] = [
  [/rate_?limit|quota|too_many_requests|resource_exhausted|throttl/, 429],
  [/api_?key|authentication|unauthenticated|unauthorized/, 401],
  [/permission|forbidden/, 403],
  [/not_?found/, 404],
  [/context_(?:length|size|window)|too_?(?:large|long)/, 413],
  [/bad_?request|invalid_?(?:request|argument|param|prompt|input|value|image|type)/, 400],
  [/unsupported|not_supported|failed_precondition|unprocessable/, 400],
  [/content_(?:filter|policy)|data_?inspection|policy_?violation|moderation/, 400],
]

const statusOf = (word: number | string | null | undefined): number | undefined => {
  const status = Number(word)
  if (word && status >= 400 && status < 600) return status
  const lower = typeof word === 'string' ? word.toLowerCase() : ''
  return statusWords.find(([pattern]) => pattern.test(lower))?.[1]
}

/** An error within the stream, as its status would be: the provider's unless it says otherwise. */
export const brokenOff = (data: string) => {
  const error = errorIn(data)
  const { code, type, status: word } = error ?? {}
  const status = statusOf(code) ?? statusOf(type) ?? statusOf(word) ?? 500
  const why = `with an error in the stream (${code ?? type ?? word ?? 'unknown'})`
  return failure(status, why, error)
}

/** The error for a request without an answer. An answer that is not HTTP is a fault. */
export const unreached = (error: Error & { code?: unknown }, midway: boolean) => {
  const why = typeof error.code === 'string' ? error.code : error.name
  if (why.startsWith('HPE_'))
    return new ModelFault(`the model provider does not speak HTTP (${why})`)
  return new ModelUnavailable(
    midway ? `the model provider broke off (${why})` : `the model provider is unreachable (${why})`,
  )
}
