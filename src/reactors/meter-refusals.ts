import type { RecordRefusalCommand } from '../../commands/record-refusal.ts'
import type { RefusalEvent } from '../domain/access-refusals/events.ts'
import type { Call } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'
import { type Log, silent } from '../ports/log.ts'

type Options = {
  record: RecordRefusalCommand
  clock: Clock
  log?: Log
  sweepMs?: number
  /** How many kinds are counted apart, and how many writes may be in progress. */
  maxKinds?: number
  maxWriting?: number
}

/** A refusal and its actor. `route` is the route's path pattern. */
export type Refused = {
  code: string
  /** The HTTP status of the answer. */
  status: number
  call: Call
  method: string
  route: string
  askedFor: string | undefined
}

/** Refusals of one kind in one minute, without the first, which has its own event. */
type Kind = { minute: number; refused: Refused; more: number; from: string; to: string }

const minuteMs = 60_000

const told = ({ code, status, method, route }: Refused) => ({ code, status, method, route })

/**
 * Records refused access as events: per key, kind (code and route) and minute, the first refusal as
 * an event and the rest as one count. A flood costs two events per minute, kind and key; refusals
 * beyond the bounds of memory are counted and logged. No request waits for this, and a crash loses
 * the counts of the last minute.
 */
export const refusalMeter = (options: Options) => {
  const { record, clock, log = silent, sweepMs = 5_000 } = options
  const { maxKinds = 10_000, maxWriting = 500 } = options
  const kinds = new Map<string, Kind>()
  const writing = new Set<Promise<void>>()
  let unnoted = 0

  const write = (event: RefusalEvent, call: Call): void => {
    const written = record(event, call)
      .catch((err) => {
        const fields = { err, reqId: call.requestId, ...event.data }
        log.error(fields, 'a refusal could not be recorded')
      })
      .finally(() => writing.delete(written))
    writing.add(written)
  }

  /** Ends a kind's minute. */
  const settle = (name: string, { refused, more, from, to }: Kind): void => {
    kinds.delete(name)
    if (more === 0) return
    const data = { ...told(refused), count: more, from, to }
    write({ type: 'AccessRefusedAgain', data }, refused.call)
  }

  const settleBefore = (minute: number): void => {
    for (const [name, kind] of kinds) if (kind.minute < minute) settle(name, kind)
    if (unnoted > 0)
      log.warn({ refusals: unnoted }, 'more kinds of refusals than are counted apart')
    unnoted = 0
  }

  const minuteNow = () => Math.floor(clock.monotonic() / minuteMs)

  const timer = setInterval(() => settleBefore(minuteNow()), sweepMs).unref()

  return {
    refused(refused: Refused): void {
      const { code, call, method, route, askedFor } = refused
      const name = `${call.organizationId} ${call.keyId} ${code} ${method} ${route}`
      const minute = minuteNow()
      const known = kinds.get(name)
      if (known?.minute === minute) {
        if (known.more === 0) known.from = call.at
        if (known.more === 0 || call.at > known.to) known.to = call.at
        known.more++
        known.refused = refused
        return
      }
      if (known) settle(name, known)
      if (kinds.size >= maxKinds) {
        unnoted++
        return
      }
      const busy = writing.size >= maxWriting
      kinds.set(name, { minute, refused, more: busy ? 1 : 0, from: call.at, to: call.at })
      if (busy) return
      const data = { ...told(refused), ...(askedFor === undefined ? {} : { askedFor }) }
      write({ type: 'AccessRefused', data }, call)
    },

    /** Writes the counts so far and stops; resolves when all is stored. */
    async close(): Promise<void> {
      clearInterval(timer)
      settleBefore(Number.POSITIVE_INFINITY)
      await Promise.all(writing)
    },
  }
}

export type RefusalMeter = ReturnType<typeof refusalMeter>
