import type { FastifyReply, onRequestHookHandler } from 'fastify'
import { type Refusal, refusal } from '../../domain/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Access } from '../../security/access.ts'
import { concurrency, type KeyLimits, rateLimiter, type WindowStanding } from './rate-limit.ts'

/** Plan limits (docs/contract/limits.md#plan-limits): requests per minute, and requests at once. */
const plans: Readonly<Record<string, { minute: number; concurrent: number }>> = {
  basic_monthly: { minute: 60, concurrent: 5 },
  pro_monthly: { minute: 300, concurrent: 20 },
}

/** The smaller of the key's limit and the plan's (docs/contract/limits.md#plan-limits). */
const limitsOf = ({ limits, plan }: Access): KeyLimits => ({
  minute: Math.min(limits.minute, (plan && plans[plan]?.minute) || Number.POSITIVE_INFINITY),
  hour: limits.hour,
})

const writeHeaders = (reply: FastifyReply, { minute, hour }: WindowStanding): void => {
  const least = minute.remaining <= hour.remaining ? minute : hour
  reply.headers({
    'x-ratelimit-limit-minute': minute.limit,
    'x-ratelimit-remaining-minute': minute.remaining,
    'x-ratelimit-reset-minute': minute.reset,
    'x-ratelimit-limit-hour': hour.limit,
    'x-ratelimit-remaining-hour': hour.remaining,
    'x-ratelimit-reset-hour': hour.reset,
    'x-ratelimit-limit': least.limit,
    'x-ratelimit-remaining': least.remaining,
    'x-ratelimit-reset': least.reset,
  })
}

const tooMany = ({ minute, hour, refused }: WindowStanding) => {
  if (!refused) return undefined
  const { limit, reset } = refused.window === 'minute' ? minute : hour
  return refusal('rate_limit_exceeded', {
    message: `Rate limit exceeded: ${limit} requests per ${refused.window}`,
    limit,
    window: refused.window,
    resetAt: reset,
    retryAfter: refused.retryAfter,
  })
}

const tooManyAtOnce = (limit: number, now: number) =>
  refusal('rate_limit_exceeded', {
    message: `Too many requests at once: the plan allows ${limit}`,
    limit,
    window: 'concurrent',
    resetAt: Math.ceil(now / 1000) + 1,
    retryAfter: 1,
  })

/** How a request stands; `refusal` says why it goes no further. `leave` once it has ended. */
export type Admitted = { standing: WindowStanding; refusal: Refusal | undefined; leave(): unknown }

/**
 * Rate limit and concurrency of a key (docs/contract/limits.md#rate-limits), for whatever comes in by it:
 * requests, and messages on a socket. A refused one is not counted. The platform's key has no
 * limits: undefined.
 */
export const admission = (clock: Clock) => {
  const limiter = rateLimiter()
  const running = concurrency()
  return (access: Access): Admitted | undefined => {
    if (!access.keyId) return undefined
    const now = clock.now().getTime()
    const atOnce = (access.plan && plans[access.plan]?.concurrent) || Number.POSITIVE_INFINITY
    const owner = `${access.userId}@${access.organizationId}`
    const entered = running.enter(owner, atOnce)
    const standing = limiter.check(access.keyId, limitsOf(access), now, entered)
    const refusal = tooMany(standing) ?? (entered ? undefined : tooManyAtOnce(atOnce, now))
    return { standing, refusal, leave: () => entered && running.leave(owner) }
  }
}
export type Admit = ReturnType<typeof admission>

/** Step 4 of the order of checks: before anything is done; its headers go with every answer. */
export const limit =
  (admit: Admit): onRequestHookHandler =>
  ({ access, routeOptions }, reply, done) => {
    const admitted = admit(access)
    if (!admitted) return done()
    if (routeOptions.config.lasting) admitted.leave()
    else reply.raw.once('close', admitted.leave)
    writeHeaders(reply, admitted.standing)
    done(admitted.refusal)
  }
