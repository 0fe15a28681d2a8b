import type { KeyUsage, RecordKeyUsageCommand } from '../commands/record-key-usage.ts'
import type { Access } from './access.ts'
import { rootCall } from './ports/call.ts'
import type { Clock } from './ports/clock.ts'
import { type Log, silent } from './ports/log.ts'

type Options = { record: RecordKeyUsageCommand; clock: Clock; everyMs?: number; log?: Log }

/** Keys written at once: requests are answered between one handful and the next. */
const atOnce = 25

/** Requests of one key since they were last written. */
type Count = { access: Access; requests: number; last: Date }

/**
 * Counts requests by key in memory and writes the counts now and then (decisions, section 8): a
 * busy key costs an event every few seconds, not one a request. A crash loses what was not written.
 */
export const usageMeter = ({ record, clock, everyMs = 5_000, log = silent }: Options) => {
  let counts = new Map<string, Count>()
  let flushing: Promise<void> = Promise.resolve()

  const add = (keyId: string, { access, requests, last }: Count): void => {
    const known = counts.get(keyId)
    if (!known) counts.set(keyId, { access, requests, last })
    else {
      known.requests += requests
      if (last > known.last) known.last = last
    }
  }

  const write = async (keyId: string, count: Count): Promise<void> => {
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

  /** Writes what was counted so far; what cannot be written is kept for the next time. */
  const flush = (): Promise<void> => {
    flushing = flushing.then(async () => {
      const due = [...counts]
      counts = new Map()
      for (let n = 0; n < due.length; n += atOnce)
        await Promise.all(due.slice(n, n + atOnce).map((one) => write(...one)))
    })
    return flushing
  }

  const timer = setInterval(() => void flush(), everyMs).unref()
  return {
    /** The platform's key is not metered. */
    count(access: Access): void {
      if (access.keyId) add(access.keyId, { access, requests: 1, last: clock.now() })
    },
    flush,
    /** Writes the rest and stops. */
    close(): Promise<void> {
      clearInterval(timer)
      return flush()
    },
  }
}
