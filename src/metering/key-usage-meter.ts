import type { KeyUsage, RecordKeyUsageCommand } from '../../commands/record-key-usage.ts'
import { rootCall } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'
import { type Log, silent } from '../ports/log.ts'
import type { Access } from '../security/access.ts'

type Options = {
  record: RecordKeyUsageCommand
  clock: Clock
  everyMs?: number
  /** Repeats some work; answers a function that stops it. */
  every?: (work: () => void, ms: number) => () => void
  log?: Log
}

const onTimer = (work: () => void, ms: number) => {
  const timer = setInterval(work, ms).unref()
  return () => clearInterval(timer)
}

/** Keys written at once; requests are answered between two such groups. */
const atOnce = 5
/** How many writes the keys are spread over that were first used together. */
const moments = 100

/** Requests of one key since its count was last written. */
type Count = {
  access: Access
  requests: number
  /** A moment of the monotonic clock. */
  since: number
  last: Date
}

/**
 * Counts requests by key in memory and writes the counts periodically
 * (docs/contract/limits.md#key-usage): a busy key costs one event every few seconds instead of one
 * per request, and many keys are not written at the same time. A crash loses the counts that were
 * not written.
 */
export const keyUsageMeter = ({
  record,
  clock,
  everyMs = 5_000,
  every = onTimer,
  log = silent,
}: Options) => {
  const counts = new Map<string, Count>()
  let flushing: Promise<void> = Promise.resolve()

  const add = (keyId: string, count: Count): void => {
    const known = counts.get(keyId)
    if (!known) counts.set(keyId, count)
    else {
      known.requests += count.requests
      if (count.last > known.last) known.last = count.last
    }
  }

  const writeOne = async (keyId: string, count: Count): Promise<void> => {
    const { access, requests, last } = count
    const type: KeyUsage['type'] = access.kind === 'user' ? 'user' : 'organization'
    const call = rootCall(access, clock.id(), clock.now())
    try {
      await record({ keyId, type, requests, lastUsedAt: last.toISOString() }, call)
    } catch (error) {
      log.error({ err: error, key_id: keyId }, 'key usage could not be written')
      add(keyId, count)
    }
  }

  const write = async (due: readonly [keyId: string, count: Count][]): Promise<void> => {
    for (const [keyId] of due) counts.delete(keyId)
    for (let n = 0; n < due.length; n += atOnce)
      await Promise.all(due.slice(n, n + atOnce).map((entry) => writeOne(...entry)))
  }

  /** Writes the counts so far; a count that cannot be written is kept for the next time. */
  const flush = (): Promise<void> => {
    flushing = flushing.then(() => write([...counts]))
    return flushing
  }

  /** The oldest counts that are due; the map is in the order of first use. */
  const due = (): [string, Count][] => {
    const before = clock.monotonic() - everyMs
    const most = Math.max(atOnce, Math.ceil(counts.size / moments))
    const entries: [string, Count][] = []
    for (const entry of counts) {
      if (entries.length === most || entry[1].since > before) break
      entries.push(entry)
    }
    return entries
  }

  const stop = every(() => {
    flushing = flushing.then(() => write(due()))
  }, everyMs / moments)
  return {
    /** Counts one request; the platform's key is not metered. */
    count(access: Access): void {
      const { keyId } = access
      if (!keyId) return
      const now = clock.now()
      const known = counts.get(keyId)
      if (!known) counts.set(keyId, { access, requests: 1, since: clock.monotonic(), last: now })
      else {
        known.requests++
        if (now > known.last) known.last = now
      }
    },
    flush,
    /** Writes the remaining counts and stops. */
    close(): Promise<void> {
      stop()
      return flush()
    },
  }
}
