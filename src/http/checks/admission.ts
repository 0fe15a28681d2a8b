import type { FastifyReply } from 'fastify'
import { apiPlans, type PlanTerms, requestsAtOnceWithoutPlan, termsOf } from '../../domain/plan.ts'
import { type Refusal, refusal } from '../../domain/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Access } from '../../security/access.ts'
import { concurrency, rateLimiter, type WindowStanding } from './rate-limit.ts'

/**
 * Without a plan, the key's own limits apply, and the smallest plan's number of requests at once.
 */
const withoutPlan = {
  requestsPerMinute: Number.POSITIVE_INFINITY,
  requestsAtOnce: requestsAtOnceWithoutPlan,
}

type Ceiling = Pick<PlanTerms, 'requestsPerMinute' | 'requestsAtOnce'>

/** Plan limits (docs/contract/limits.md#plan-limits); undefined: there is no such plan. */
export const ceilingOf = ({ plan }: Pick<Access, 'plan'>): Ceiling | undefined =>
  plan === null ? withoutPlan : termsOf(plan)

const writeHeaders = (reply: FastifyReply, { minute, hour }: WindowStanding): void => {
  const least = minute.remaining <= hour.remaining ? minute : hour
  reply.header('x-ratelimit-limit-minute', minute.limit)
  reply.header('x-ratelimit-remaining-minute', minute.remaining)
  reply.header('x-ratelimit-reset-minute', minute.reset)
  reply.header('x-ratelimit-limit-hour', hour.limit)
  reply.header('x-ratelimit-remaining-hour', hour.remaining)
  reply.header('x-ratelimit-reset-hour', hour.reset)
  reply.header('x-ratelimit-limit', least.limit)
  reply.header('x-ratelimit-remaining', least.remaining)
  reply.header('x-ratelimit-reset', least.reset)
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
    message: `Too many requests at once: at most ${limit} are allowed`,
    limit,
    window: 'concurrent',
    resetAt: Math.ceil(now / 1000) + 1,
    retryAfter: 1,
  })

/**
 * The limits' state after a request; `refusal` is set when it must not proceed. Call `leave` when
 * the request has ended.
 */
export type Admitted = { standing: WindowStanding; refusal: Refusal | undefined; leave(): unknown }

const unknownPlan = ({ plan }: Access) =>
  refusal('invalid_plan', { currentPlan: plan ?? '', requiredPlans: apiPlans })

/**
 * Rate limit and concurrency of a key (docs/contract/limits.md#rate-limits), for its requests and
 * its messages on sockets. A refused request is not counted. An unknown plan is refused. The
 * platform's key has no limits: undefined.
 */
export const admission = (clock: Clock) => {
  const limiter = rateLimiter()
  const running = concurrency()
  return (access: Access): Admitted | undefined => {
    const { keyId, userId, organizationId, limits } = access
    if (!keyId) return undefined
    const now = { monotonic: clock.monotonic(), wall: clock.now().getTime() }
    const ceiling = ceilingOf(access)
    if (!ceiling) {
      const standing = limiter.check(keyId, limits, now, false)
      return { standing, refusal: unknownPlan(access), leave: () => undefined }
    }
    const { requestsPerMinute, requestsAtOnce } = ceiling
    const owner = `${userId}@${organizationId}`
    const entered = running.enter(owner, requestsAtOnce)
    const minute = Math.min(limits.minute, requestsPerMinute)
    const standing = limiter.check(keyId, { minute, hour: limits.hour }, now, entered)
    const refused =
      tooMany(standing) ?? (entered ? undefined : tooManyAtOnce(requestsAtOnce, now.wall))
    return { standing, refusal: refused, leave: () => entered && running.leave(owner) }
  }
}
export type Admit = ReturnType<typeof admission>

/**
 * The limit check, before anything else is done; its headers go with every answer. An answer
 * without an end is not counted among those at once. @throws rate_limit_exceeded, invalid_plan
 */
export const limit =
  (admit: Admit, lasting: boolean) =>
  (access: Access, reply: FastifyReply): void => {
    const admitted = admit(access)
    if (!admitted) return
    if (lasting) admitted.leave()
    else reply.raw.once('close', admitted.leave)
    writeHeaders(reply, admitted.standing)
    if (admitted.refusal) throw admitted.refusal
  }
