import createClient, { type Middleware } from 'openapi-fetch'
import { problemOf } from './problem.ts'
import type { paths } from './schema.d.ts'

export type { paths }

type Signals = {
  /** Sent with every change, so that no other site can make one. */
  csrfToken: string | undefined
  /** Called once an answer says that nobody is signed in any more. */
  onSignedOut: () => void
}

/** Set by the session; there is one session in a page. */
export const signals: Signals = { csrfToken: undefined, onSignedOut: () => {} }

const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD'

const bodyOf = async (response: Response): Promise<unknown> => {
  try {
    return await response.json()
  } catch {
    return undefined
  }
}

/** The answer of a request that succeeded. @throws ApiError */
const checked = async (response: Response): Promise<Response> => {
  if (response.ok) return response
  if (response.status === 401) signals.onSignedOut()
  throw problemOf(response.status, response.headers, await bodyOf(response))
}

const session: Middleware = {
  onRequest({ request }) {
    if (!isRead(request.method) && signals.csrfToken)
      request.headers.set('x-csrf-token', signals.csrfToken)
    return request
  },
  async onResponse({ response }) {
    await checked(response)
    return undefined
  },
}

/** Of the page; a test of modules that import this one has none. */
const { location } = globalThis as { location?: { origin: string } }

/**
 * The public API with the session's cookie, typed by the server's own OpenAPI document. Every
 * request that is refused throws an ApiError: `answerOf(api.GET('/api/…', { params }))`.
 */
export const api = createClient<paths>({ baseUrl: location?.origin ?? '' })
api.use(session)

/** The body of an answer in JSON, which the client asks for. @throws ApiError */
export const answerOf = async <T>(reply: Promise<{ data?: T }>): Promise<Exclude<T, string>> => {
  const { data } = await reply
  if (data === undefined) throw new Error('The server answered without a body')
  return data as Exclude<T, string>
}

/**
 * A request beside the typed client: streams, uploads with progress, routes under /console. Adds
 * the token to changes. @throws ApiError
 */
export const send = async (path: string, init: RequestInit = {}): Promise<Response> => {
  const headers = new Headers(init.headers)
  if (!isRead(init.method ?? 'GET') && signals.csrfToken)
    headers.set('x-csrf-token', signals.csrfToken)
  return checked(await fetch(path, { ...init, headers }))
}

/** The body of a path's answer: `Answer<'/api/external/agents'>`. */
export type Answer<
  Path extends keyof paths,
  Method extends keyof paths[Path] = 'get' & keyof paths[Path],
> = paths[Path][Method] extends {
  responses: { 200: { content: { 'application/json': infer Body } } }
}
  ? Body
  : never
