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
 * https (docs/contract/requests.md#https). `always` refuses loopback too.
 */
export const requireHttps =
  (mode: 'on' | 'off' | 'always'): onRequestHookHandler =>
  (request, _reply, done) => {
    const secure = mode === 'off' || isSecure(request, mode === 'always')
    done(secure ? undefined : refusal('https_required'))
  }
