import { LRUCache } from 'lru-cache'

/**
 * The exact times of the last requests within one window, oldest first, in a ring that grows by
 * doubling. 8 bytes a request; a check drops what has left the window and counts the rest.
 */
export const slidingWindow = (lengthMs: number) => {
  let times = new Float64Array(16)
  let first = 0
  let count = 0

  const at = (n: number): number => times[(first + n) % times.length] as number

  const grow = () => {
    const larger = new Float64Array(times.length * 2)
    for (let n = 0; n < count; n++) larger[n] = at(n)
    times = larger
    first = 0
  }

  return {
    /** Requests in the window that ends now. */
    used(now: number): number {
      while (count > 0 && at(0) <= now - lengthMs) {
        first = (first + 1) % times.length
        count--
      }
      return count
    },
    hit(now: number): void {
      if (count === times.length) grow()
      times[(first + count) % times.length] = now
      count++
    },
    /** When the oldest request leaves the window; one window from now when it is empty. */
    resetsAt: (now: number): number => (count > 0 ? at(0) : now) + lengthMs,
    /** When fewer than `limit` requests will be left in the window. */
    freeAt: (now: number, limit: number): number =>
      (count >= limit && count > 0 ? at(count - limit) : now - lengthMs) + lengthMs,
  }
}

export type KeyLimits = { minute: number; hour: number }

type Window = { limit: number; remaining: number /** Unix seconds. */; reset: number }

/** A key's windows after a check; `refused` names the window that is full. */
export type WindowStanding = {
  minute: Window
  hour: Window
  refused?: { window: 'minute' | 'hour'; retryAfter: number }
}

const seconds = (ms: number): number => Math.ceil(ms / 1000)

/**
 * Two exact sliding windows per key (docs/contract/limits.md#rate-limits). A refused request is not
 * counted. The windows are empty after a restart, by design.
 */
export const rateLimiter = (keys = 50_000) => {
  const windows = new LRUCache<
    string,
    { minute: ReturnType<typeof slidingWindow>; hour: ReturnType<typeof slidingWindow> }
  >({ max: keys })

  return {
    /** The key's windows; the request is counted if there is room and `count` is set. */
    check(key: string, limits: KeyLimits, now: number, count: boolean): WindowStanding {
      let kept = windows.get(key)
      if (!kept) {
        kept = { minute: slidingWindow(60_000), hour: slidingWindow(3_600_000) }
        windows.set(key, kept)
      }
      const { minute, hour } = kept
      const full =
        minute.used(now) >= limits.minute ? 'minute' : hour.used(now) >= limits.hour ? 'hour' : null
      if (!full && count) {
        minute.hit(now)
        hour.hit(now)
      }
      const standing: WindowStanding = {
        minute: {
          limit: limits.minute,
          remaining: Math.max(0, limits.minute - minute.used(now)),
          reset: seconds(minute.resetsAt(now)),
        },
        hour: {
          limit: limits.hour,
          remaining: Math.max(0, limits.hour - hour.used(now)),
          reset: seconds(hour.resetsAt(now)),
        },
      }
      if (full) {
        const free = kept[full].freeAt(now, limits[full])
        standing.refused = { window: full, retryAfter: Math.max(1, seconds(free - now)) }
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
