import type { FastifyRequest } from 'fastify'
import { refusal } from '../../domain/refusal.ts'
import { type Secrets, sameSecret } from '../../security/secrets.ts'
import { consoleTokenOf } from './console-cookie.ts'

type Uses = {
  /** Where people reach this server, if it is configured. */
  publicUrl: string | undefined
  csrfTokenOf: Secrets['csrfTokenOf']
}

const reading: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Whether a request only reads. */
export const isReading = ({ method }: Pick<FastifyRequest, 'method'>): boolean =>
  reading.has(method)

/** What browsers say of requests that no page of another origin began; others say nothing. */
const ownSites: ReadonlySet<unknown> = new Set([undefined, 'same-origin', 'none'])

/**
 * Whether a request with the console's cookie comes from a page of ours: browsers send the cookie
 * for other ports and subdomains too (docs/contract/authentication.md#console-sessions).
 */
export const ownPage = ({ publicUrl, csrfTokenOf }: Uses) => {
  const publicOrigin = publicUrl === undefined ? undefined : new URL(publicUrl).origin

  /** The origin of this server, as the client addresses it. */
  const originOf = ({ protocol, host }: FastifyRequest): string => `${protocol}://${host}`

  const isOurs = (request: FastifyRequest): boolean => {
    const { origin } = request.headers
    return origin !== undefined && (origin === publicOrigin || origin === originOf(request))
  }

  /** @throws origin_not_allowed */
  const requireOrigin = (request: FastifyRequest): void => {
    if (!isOurs(request)) throw refusal('origin_not_allowed')
  }

  return {
    /** The base of links to this server. */
    baseOf: (request: FastifyRequest): string => publicUrl ?? originOf(request),
    requireOrigin,
    /**
     * A form on a page that is sent with `Referrer-Policy: no-referrer`: its origin is `null`, and
     * only the browser's own word tells that the page is ours. @throws origin_not_allowed
     */
    requireOwnForm(request: FastifyRequest): void {
      const { origin, 'sec-fetch-site': site } = request.headers
      if (origin === 'null' && site === 'same-origin') return
      requireOrigin(request)
    },
    /** @throws origin_not_allowed, invalid_csrf_token */
    requireOwnPage(request: FastifyRequest): void {
      const { headers } = request
      const reads = isReading(request)
      if (!reads || headers.origin !== undefined) requireOrigin(request)
      if (!ownSites.has(headers['sec-fetch-site'])) throw refusal('origin_not_allowed')
      if (reads) return
      const given = headers['x-csrf-token']
      const expected = csrfTokenOf(consoleTokenOf(request) ?? '')
      if (typeof given !== 'string' || !sameSecret(given, expected))
        throw refusal('invalid_csrf_token')
    },
  }
}
export type OwnPage = ReturnType<typeof ownPage>
