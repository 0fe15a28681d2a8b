import type { FastifyReply, onRequestHookHandler } from 'fastify'
import type { Access } from '../access.ts'
import type { Clock } from '../ports/clock.ts'
import { problem } from '../problems.ts'
import { concurrency, type Limits, rateLimiter, type Standing } from './rate-limit.ts'

/** Plan limits (Limits): requests per minute, and requests at once. */
const plans: Readonly<Record<string, { minute: number; concurrent: number }>> = {
  basic_monthly: { minute: 60, concurrent: 5 },
  pro_monthly: { minute: 300, concurrent: 20 },
}

/** The smaller of the key's limit and the plan's (decisions, section 8). */
const limitsOf = ({ limits, plan }: Access): Limits => ({
  minute: Math.min(limits.minute, (plan && plans[plan]?.minute) || Number.POSITIVE_INFINITY),
  hour: limits.hour,
})

const writeHeaders = (reply: FastifyReply, { minute, hour }: Standing): void => {
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

const tooMany = ({ minute, hour, refused }: Standing) => {
  if (!refused) return undefined
  const { limit, reset } = refused.window === 'minute' ? minute : hour
  return problem('rate_limit_exceeded', {
    message: `Rate limit exceeded: ${limit} requests per ${refused.window}`,
    limit,
    window: refused.window,
    reset_at: reset,
    retry_after: refused.retryAfter,
  })
}

const tooManyAtOnce = (limit: number, now: number) =>
  problem('rate_limit_exceeded', {
    message: `Too many requests at once: the plan allows ${limit}`,
    limit,
    window: 'concurrent',
    reset_at: Math.ceil(now / 1000) + 1,
    retry_after: 1,
  })

/** Rate limit and concurrency (decisions, section 1, step 4): checked before anything is done. */
export const limit = (clock: Clock): onRequestHookHandler => {
  const limiter = rateLimiter()
  const running = concurrency()
  return ({ access }, reply, done) => {
    if (!access.keyId) return done()
    const now = clock.now().getTime()
    const atOnce = (access.plan && plans[access.plan]?.concurrent) || Number.POSITIVE_INFINITY
    const owner = `${access.userId}@${access.organizationId}`
    const entered = running.enter(owner, atOnce)
    if (entered) reply.raw.once('close', () => running.leave(owner))
    const standing = limiter.check(access.keyId, limitsOf(access), now, entered)
    writeHeaders(reply, standing)
    done(tooMany(standing) ?? (entered ? undefined : tooManyAtOnce(atOnce, now)))
  }
}
