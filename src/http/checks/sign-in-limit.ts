import type { FastifyRequest } from 'fastify'
import { type Refusal, refusal } from '../../domain/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import { rateLimiter } from './rate-limit.ts'

/** Sign-ins of one address (docs/contract/limits.md#console-sessions). */
const limits = { minute: 60, hour: 600 }

/** Of an IPv6 address, the network: whoever has one address has all of it. */
const networkOf = (address: string): string => {
  const v4 = address.match(/^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/)?.[1]
  if (v4 !== undefined || !address.includes(':')) return v4 ?? address
  const [head = '', tail] = address.split('::')
  const groups = head === '' ? [] : head.split(':')
  const rest = tail ? tail.split(':') : []
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - rest.length)
  return [...groups, ...Array<string>(zeros).fill('0'), ...rest].slice(0, 4).join(':')
}

const tooMany = (window: 'minute' | 'hour', retryAfter: number, wall: number): Refusal =>
  refusal('rate_limit_exceeded', {
    message: `Too many sign-ins from this address: at most ${limits[window]} per ${window}`,
    limit: limits[window],
    window,
    resetAt: Math.ceil(wall / 1000) + retryAfter,
    retryAfter,
  })

/** Counts attempts to sign in by the address that they come from, good ones and bad ones. */
export const signInLimit = (clock: Pick<Clock, 'now' | 'monotonic'>) => {
  const limiter = rateLimiter()
  /** @throws rate_limit_exceeded */
  return ({ ip }: Pick<FastifyRequest, 'ip'>): void => {
    const wall = clock.now().getTime()
    const now = { monotonic: clock.monotonic(), wall }
    const { refused } = limiter.check(networkOf(ip), limits, now, true)
    if (refused) throw tooMany(refused.window, refused.retryAfter, wall)
  }
}
export type SignInLimit = ReturnType<typeof signInLimit>
