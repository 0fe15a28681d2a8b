import { LRUCache } from 'lru-cache'
import { atMost } from '../../support/at-most.ts'

const minuteMs = 60_000
const hourMs = 3_600_000

/**
 * The exact times of a key's requests of the last hour, oldest first, in a ring that grows by
 * doubling: moments of the monotonic clock. 8 bytes a request; those of the last minute are the end
 * of it. An object without functions: each would be one more place in memory that a check has to
 * fetch.
 */
type Requests = {
  times: Float64Array
  first: number
  count: number
  /** How many of them have left the minute. */
  older: number
}

/** The place of a request in the ring, whose length is a power of two. */
const placeOf = ({ times, first }: Requests, n: number): number => (first + n) & (times.length - 1)

const timeOf = (all: Requests, n: number): number => all.times[placeOf(all, n)] as number

/** Drops what has left the hour, and passes over what has left the minute. */
const leave = (all: Requests, now: number): void => {
  while (all.count > 0 && timeOf(all, 0) <= now - hourMs) {
    all.first = placeOf(all, 1)
    all.count--
    if (all.older > 0) all.older--
  }
  while (all.older < all.count && timeOf(all, all.older) <= now - minuteMs) all.older++
}

const hit = (all: Requests, now: number): void => {
  if (all.count === all.times.length) {
    const larger = new Float64Array(2 * all.count)
    for (let n = 0; n < all.count; n++) larger[n] = timeOf(all, n)
    all.times = larger
    all.first = 0
  }
  all.times[placeOf(all, all.count)] = now
  all.count++
}

export type KeyLimits = { minute: number; hour: number }

type Window = { limit: number; remaining: number /** Unix seconds. */; reset: number }

/**
 * Now: by the monotonic clock, by which windows are counted, and in Unix milliseconds, for `reset`.
 */
export type LimitTime = { monotonic: number; wall: number }

/** A key's windows after a check; `refused` names the window that is full. */
export type WindowStanding = {
  minute: Window
  hour: Window
  refused?: { window: 'minute' | 'hour'; retryAfter: number }
}

const seconds = (ms: number): number => Math.ceil(ms / 1000)

/** The window that begins behind the `before` oldest requests. */
const standingOf = (
  all: Requests,
  before: number,
  { limit, ms, now }: { limit: number; ms: number; now: LimitTime },
): Window => {
  const used = all.count - before
  const age = used > 0 ? now.monotonic - timeOf(all, before) : 0
  return { limit, remaining: Math.max(0, limit - used), reset: seconds(now.wall - age + ms) }
}

/**
 * Two exact sliding windows per key (docs/contract/limits.md#rate-limits). A refused request is not
 * counted. The windows are empty after a restart, by design.
 */
export const rateLimiter = (keys = 50_000) => {
  const requests = new LRUCache<string, Requests>(atMost(keys))

  return {
    /** The key's windows; the request is counted if there is room and `count` is set. */
    check(key: string, limits: KeyLimits, now: LimitTime, count: boolean): WindowStanding {
      let all = requests.get(key)
      if (!all) {
        all = { times: new Float64Array(16), first: 0, count: 0, older: 0 }
        requests.set(key, all)
      }
      const { monotonic } = now
      leave(all, monotonic)
      const { minute, hour } = limits
      const full =
        all.count - all.older >= minute ? 'minute' : all.count >= hour ? 'hour' : undefined
      if (!full && count) hit(all, monotonic)
      const standing: WindowStanding = {
        minute: standingOf(all, all.older, { limit: minute, ms: minuteMs, now }),
        hour: standingOf(all, 0, { limit: hour, ms: hourMs, now }),
      }
      if (full) {
        // Fewer than the limit are left once the oldest of that many has gone.
        const free = timeOf(all, all.count - limits[full]) + (full === 'minute' ? minuteMs : hourMs)
        standing.refused = { window: full, retryAfter: Math.max(1, seconds(free - monotonic)) }
      }
      return standing
    },
  }
}

/** How many requests of one owner run at once. */
export const concurrency = () => {
  const running = new Map<string, number>()
  return {
    /** False when the limit is reached; otherwise counted until `leave`. */
    enter(owner: string, limit: number): boolean {
      const now = running.get(owner) ?? 0
      if (now >= limit) return false
      running.set(owner, now + 1)
      return true
    },
    leave(owner: string): void {
      const now = running.get(owner) ?? 0
      if (now <= 1) running.delete(owner)
      else running.set(owner, now - 1)
    },
  }
}
