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

const errorBody = z.object({
  error: z.object({
    code: z.union([z.number(), code]).nullish().catch(null),
    type: code.nullish().catch(null),
    message: z.string().nullish().catch(null),
  }),
})

type ErrorBody = z.infer<typeof errorBody>['error']

const errorIn = (text: string): ErrorBody | undefined => {
  try {
    return errorBody.parse(JSON.parse(text)).error
  } catch {
    return undefined
  }
}

/** Busy or broken: the same request may succeed later. */
const passing = (status: number) => status >= 500 || status === 429 || status === 408

/** How providers say that a conversation is too long: by code, or only in words. */
const tooLong = /context_length_exceeded|context length|context window|prompt is too long/i

const isTooLong = (status: number, error: ErrorBody | undefined): boolean =>
  (status === 400 || status === 413) && tooLong.test(`${error?.code} ${error?.message}`)

const failure = (
  status: number,
  why: string,
  error: ErrorBody | undefined,
  retryAfterMs?: number,
) => {
  const message = `the model provider answered ${why}`
  if (passing(status)) return new ModelUnavailable(message, retryAfterMs)
  return isTooLong(status, error) ? new ContextTooLong(message) : new ModelMisconfigured(message)
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
  const name = error?.code ?? error?.type
  return failure(status, name ? `${status} (${name})` : `${status}`, error, retryAfterMs)
}

/** An error within the stream: the provider's fault unless its code says otherwise. */
export const brokenOff = (data: string) => {
  const error = errorIn(data)
  const status = typeof error?.code === 'number' ? error.code : 500
  const why = `with an error in the stream (${error?.code ?? error?.type ?? 'unknown'})`
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
