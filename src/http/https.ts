import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import { problem } from '../problems.ts'

const loopback = /^(::1|(::ffff:)?127\.)/

const isSecure = (request: FastifyRequest, always: boolean): boolean =>
  request.protocol === 'https' ||
  (!always &&
    loopback.test(request.socket.remoteAddress ?? '') &&
    !request.ips?.some((address) => !loopback.test(address)))

/**
 * Refuses plain HTTP unless the peer is loopback, or a trusted proxy says that it was https there
 * (decisions, section 1, step 1). `always` refuses loopback too.
 */
export const requireHttps =
  (mode: 'on' | 'off' | 'always'): onRequestHookHandler =>
  (request, _reply, done) => {
    const secure = mode === 'off' || isSecure(request, mode === 'always')
    done(secure ? undefined : problem('https_required'))
  }
