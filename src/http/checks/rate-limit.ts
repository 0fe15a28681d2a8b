import { LRUCache } from 'lru-cache'
import { atMost } from '../../support/at-most.ts'

const minuteMs = 60_000
const hourMs = 3_600_000

/** The exact times of a key's requests of the last hour, oldest first, by the monotonic clock. */
type Requests = {
  times: number[]
  /** How many of them have left the minute. */
  older: number
}

/** Drops requests that have left the hour, and counts those that have left the minute. */
const leave = (all: Requests, now: number): void => {
  const { times } = all
  const hasLeft = (n: number, ms: number): boolean => (times[n] ?? Infinity) <= now - ms
  let expired = 0
  while (hasLeft(expired, hourMs)) expired++
  // At once: each removal moves all others.
  if (expired > 0) times.splice(0, expired)
  all.older = Math.max(0, all.older - expired)
  while (hasLeft(all.older, minuteMs)) all.older++
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
  { times }: Requests,
  before: number,
  { limit, ms, now }: { limit: number; ms: number; now: LimitTime },
): Window => {
  const used = times.length - before
  const age = now.monotonic - (times[before] ?? now.monotonic)
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
        all = { times: [], older: 0 }
        requests.set(key, all)
      }
      const { times } = all
      const { monotonic } = now
      leave(all, monotonic)
      const { minute, hour } = limits
      const full =
        times.length - all.older >= minute ? 'minute' : times.length >= hour ? 'hour' : undefined
      if (!full && count) times.push(monotonic)
      const standing: WindowStanding = {
        minute: standingOf(all, all.older, { limit: minute, ms: minuteMs, now }),
        hour: standingOf(all, 0, { limit: hour, ms: hourMs, now }),
      }
      if (full) {
        // Fewer than the limit are left once the oldest of that many has expired.
        const blocking = times[times.length - limits[full]] ?? monotonic
        const free = blocking + (full === 'minute' ? minuteMs : hourMs)
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
