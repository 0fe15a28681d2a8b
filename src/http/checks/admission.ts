import type { FastifyReply } from 'fastify'
import { apiPlans, type PlanTerms, requestsAtOnceWithoutPlan, termsOf } from '../../domain/plan.ts'
import { type Refusal, refusal } from '../../domain/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import { type Access, callerOf } from '../../security/access.ts'
import type { RouteRules } from '../server/route-rules.ts'
import { isReading } from './own-page.ts'
import { concurrency, type KeyLimits, rateLimiter, type WindowStanding } from './rate-limit.ts'

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

/** Reads of the console (docs/contract/limits.md#console-sessions). */
const consoleReads = { minute: 600, hour: 20_000, atOnce: 100 }

/** `reading`: the request changes nothing. `counted`: it counts in its windows. */
type Kind = { reading?: boolean; counted?: boolean }

/** Which windows a request counts in, and whose requests at once it is one of. */
type Counting = { windows: string; limits: KeyLimits; owner: string; atOnce: number }

/**
 * Sessions of the console have windows of their own, shared by all sessions of a key. Their reads
 * do not count among the requests at once, so that a dashboard takes nothing from the key's own.
 */
const countingOf = (access: Access, ceiling: Ceiling, reading: boolean): Counting => {
  const { userId, organizationId, limits, consoleSession } = access
  const caller = callerOf(access)
  if (consoleSession && reading) {
    const windows = `reads of ${caller}@${organizationId}`
    return { windows, limits: consoleReads, owner: windows, atOnce: consoleReads.atOnce }
  }
  const minute = Math.min(limits.minute, ceiling.requestsPerMinute)
  return {
    windows: consoleSession ? `console of ${caller}@${organizationId}` : caller,
    limits: { minute, hour: limits.hour },
    owner: `${userId}@${organizationId}`,
    atOnce: ceiling.requestsAtOnce,
  }
}

/**
 * Rate limit and concurrency of a key (docs/contract/limits.md#rate-limits), for its requests and
 * its messages on sockets. A refused request is not counted. An unknown plan is refused. The
 * platform's key has no limits: undefined. A request that is not `counted` is admitted by full
 * windows too, and leaves them as they are.
 */
export const admission = (clock: Clock) => {
  const limiter = rateLimiter()
  const running = concurrency()
  return (access: Access, { reading = false, counted = true }: Kind = {}): Admitted | undefined => {
    if (access.kind === 'platform') return undefined
    const now = { monotonic: clock.monotonic(), wall: clock.now().getTime() }
    const ceiling = ceilingOf(access)
    if (!ceiling) {
      const standing = limiter.check(callerOf(access), access.limits, now, false)
      return { standing, refusal: unknownPlan(access), leave: () => undefined }
    }
    const { windows, limits, owner, atOnce } = countingOf(access, ceiling, reading)
    const entered = running.enter(owner, atOnce)
    const standing = limiter.check(windows, limits, now, entered && counted)
    const full = counted ? tooMany(standing) : undefined
    const refused = full ?? (entered ? undefined : tooManyAtOnce(atOnce, now.wall))
    return { standing, refusal: refused, leave: () => entered && running.leave(owner) }
  }
}
export type Admit = ReturnType<typeof admission>

/**
 * The limit check, before anything else is done; its headers go with every answer. An answer
 * without an end is not counted among those at once. @throws rate_limit_exceeded, invalid_plan
 */
export const limit =
  (admit: Admit, { lasting, uncounted }: Pick<RouteRules, 'lasting' | 'uncounted'>) =>
  (access: Access, reply: FastifyReply): void => {
    const admitted = admit(access, { reading: isReading(reply.request), counted: !uncounted })
    if (!admitted) return
    if (lasting) admitted.leave()
    else reply.raw.once('close', admitted.leave)
    writeHeaders(reply, admitted.standing)
    if (admitted.refusal) throw admitted.refusal
  }
