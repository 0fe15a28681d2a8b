import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import { type Config, ConfigInvalid } from '../../config.ts'
import { refusal } from '../../domain/refusal.ts'

/** Certificate and key, when the server terminates TLS itself. @throws ConfigInvalid */
export const tlsFrom = ({ TLS_CERT, TLS_KEY }: Pick<Config, 'TLS_CERT' | 'TLS_KEY'>) => {
  if (!TLS_CERT || !TLS_KEY) return undefined
  try {
    const pair = { cert: readFileSync(TLS_CERT), key: readFileSync(TLS_KEY) }
    createSecureContext(pair)
    return pair
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException
    throw new ConfigInvalid(`TLS_CERT, TLS_KEY: not a certificate in PEM and its key (${code})`)
  }
}

const loopback = /^(::1$|(::ffff:)?127\.)/

const isSecure = (request: FastifyRequest, always: boolean): boolean =>
  request.protocol === 'https' ||
  (!always &&
    loopback.test(request.socket.remoteAddress ?? '') &&
    !request.ips?.some((address) => !loopback.test(address)))

/**
 * Refuses plain HTTP unless the peer is loopback, or a trusted proxy received the request over
 * https (docs/contract/authentication.md#https). `always` refuses loopback too.
 * @throws https_required
 */
export const httpsRequired = (mode: 'on' | 'off' | 'always') => {
  const always = mode === 'always'
  return (request: FastifyRequest): void => {
    if (mode !== 'off' && !isSecure(request, always)) throw refusal('https_required')
  }
}

/** The same for routes without a key. */
export const requireHttps = (mode: 'on' | 'off' | 'always'): onRequestHookHandler => {
  const require = httpsRequired(mode)
  return (request, _reply, done) => {
    require(request)
    done()
  }
}
