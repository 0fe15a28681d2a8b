import { z } from 'zod'
import { ModelFault, ModelUnavailable } from '../../ports/model.ts'

/**
 * The form of `error.code` and `error.type` that is passed on: words only, so that no secret gets
 * through.
 */
const code = z.string().regex(/^[\w.-]{1,64}$/)

const errorBody = z.object({
  error: z.object({
    code: z.union([z.number(), code]).nullish().catch(null),
    type: code.nullish().catch(null),
  }),
})

const errorIn = (text: string): z.infer<typeof errorBody>['error'] | undefined => {
  try {
    return errorBody.parse(JSON.parse(text)).error
  } catch {
    return undefined
  }
}

/** Busy or broken: the same request may succeed later. */
const passing = (status: number) => status >= 500 || status === 429 || status === 408

const failure = (status: number, why: string, retryAfterMs?: number) =>
  passing(status)
    ? new ModelUnavailable(`the model provider answered ${why}`, retryAfterMs)
    : new ModelFault(`the model provider answered ${why}`)

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
  return failure(status, name ? `${status} (${name})` : `${status}`, retryAfterMs)
}

/** An error within the stream: the provider's fault unless its code says otherwise. */
export const brokenOff = (data: string) => {
  const error = errorIn(data)
  const status = typeof error?.code === 'number' ? error.code : 500
  return failure(status, `with an error in the stream (${error?.code ?? error?.type ?? 'unknown'})`)
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
