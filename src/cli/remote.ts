import { z } from 'zod'
import { platformId } from '../domain/event.ts'
import { CommandFailed } from './command-failed.ts'

const refusal = z.union([
  z.object({ error: z.object({ message: z.string() }) }).transform(({ error }) => error.message),
  z.object({ error: z.string(), message: z.string() }).transform(({ message }) => message),
  z.object({ detail: z.string() }).transform(({ detail }) => detail),
])

/** The default address of a server: REPRISE_URL, else this machine's. */
export const defaultUrl = (env: Readonly<Record<string, string | undefined>>): string =>
  env.REPRISE_URL || `http://127.0.0.1:${env.PORT || 3000}`

/** Where a server has a history: an organization's, or (`platform`) the platform's own. */
export const auditPath = (organization: string): string =>
  organization === platformId
    ? '/api/admin/platform/audit'
    : `/api/admin/organizations/${encodeURIComponent(organization)}/audit`

/** The message of a server's refusal. */
export const refusedBy = async (target: URL, reply: Response): Promise<CommandFailed> => {
  const body: unknown = await reply.json().catch(() => undefined)
  const message = refusal.safeParse(body).data ?? reply.statusText
  return new CommandFailed(`${target.origin} answers ${reply.status}: ${message}`)
}

/** Asks a running server; answers its reply unless that is a refusal. @throws CommandFailed */
export const replies = (url: string, key: string) => {
  if (!URL.canParse(url)) throw new CommandFailed(`${url} is not a URL, such as ${defaultUrl({})}`)
  return async (method: 'GET' | 'POST', path: string, body?: object): Promise<Response> => {
    const target = new URL(path, url)
    const json = { 'content-type': 'application/json' }
    const headers = { 'x-api-key': key, ...(body ? json : {}) }
    const sent = body ? { body: JSON.stringify(body) } : {}
    const reply = await fetch(target, { method, headers, ...sent }).catch(({ cause }: Error) => {
      const why = cause instanceof Error ? cause.message : 'no connection'
      throw new CommandFailed(`${target.origin} does not answer (${why})`)
    })
    if (reply.ok) return reply
    throw await refusedBy(target, reply)
  }
}

/** The same, for replies in JSON. */
export const remote = (url: string, key: string) => {
  const ask = replies(url, key)
  return async (method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> =>
    (await ask(method, path, body)).json()
}

export type Remote = ReturnType<typeof remote>
