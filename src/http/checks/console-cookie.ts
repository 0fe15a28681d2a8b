import type { FastifyReply, FastifyRequest } from 'fastify'

const sessionCookie = 'reprise_session'
const openIdCookie = 'reprise_openid'

/** Where OpenID Connect signs in; its cookie is sent nowhere else. */
export const openIdPath = '/console/openid'

const values: Readonly<Record<string, RegExp>> = {
  [sessionCookie]: /(?:^|;) *reprise_session=([^;]*)/g,
  [openIdCookie]: /(?:^|;) *reprise_openid=([^;]*)/g,
}

/**
 * A cookie's value. Empty where there are several of its name: a page of another subdomain can add
 * one of its own, and nothing tells which is ours.
 */
const cookieOf = ({ headers: { cookie } }: FastifyRequest, name: string): string | undefined => {
  const pattern = values[name]
  if (cookie === undefined || !pattern) return undefined
  const [first, second] = [...cookie.matchAll(pattern)]
  return second ? '' : first?.[1]
}

/** The token of the console session that a request's cookie names. */
export const consoleTokenOf = (request: FastifyRequest): string | undefined =>
  cookieOf(request, sessionCookie)

/** The state of the sign-in by OpenID Connect that this browser began. */
export const openIdStateOf = (request: FastifyRequest): string | undefined =>
  cookieOf(request, openIdCookie)

const seconds = (ms: number): number => Math.floor(ms / 1000)

type Attributes = { path: string; sameSite: 'Strict' | 'Lax'; maxAge: number; secure: boolean }

const cookie = (name: string, value: string, attributes: Attributes): string => {
  const { path, sameSite, maxAge, secure } = attributes
  const always = `${name}=${value}; Path=${path}; Max-Age=${maxAge}; HttpOnly; SameSite=${sameSite}`
  return secure ? `${always}; Secure` : always
}

/**
 * The cookies of the console: readable by no script, and over HTTPS never sent without it.
 * `isSecure`: whether a request came over HTTPS.
 */
export const consoleCookies = (isSecure: (request: FastifyRequest) => boolean) => {
  const set = (
    reply: FastifyReply,
    name: string,
    value: string,
    rest: Omit<Attributes, 'secure'>,
  ) => reply.header('set-cookie', cookie(name, value, { ...rest, secure: isSecure(reply.request) }))
  const session = { path: '/', sameSite: 'Strict' } as const
  // The identity provider leads back from another site: Strict would not be sent.
  const openId = { path: openIdPath, sameSite: 'Lax' } as const
  return {
    setSession: (reply: FastifyReply, token: string, ms: number) =>
      set(reply, sessionCookie, token, { ...session, maxAge: seconds(ms) }),
    clearSession: (reply: FastifyReply) => set(reply, sessionCookie, '', { ...session, maxAge: 0 }),
    setOpenId: (reply: FastifyReply, state: string, ms: number) =>
      set(reply, openIdCookie, state, { ...openId, maxAge: seconds(ms) }),
    clearOpenId: (reply: FastifyReply) => set(reply, openIdCookie, '', { ...openId, maxAge: 0 }),
  }
}
export type ConsoleCookies = ReturnType<typeof consoleCookies>
