import type { RecordRefusalCommand } from '../../commands/record-refusal.ts'
import type { RefusalEvent } from '../domain/access-refusals/events.ts'
import { type Call, systemCall } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'
import { type Log, silent } from '../ports/log.ts'
import { minuteMeter } from './minute-meter.ts'

type Options = {
  record: RecordRefusalCommand
  clock: Clock
  log?: Log
  sweepMs?: number
  /** How many kinds are counted apart, and how many writes may be in progress. */
  organizationKinds?: number
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

const refusalData = ({ code, status, method, route }: Refused) => ({ code, status, method, route })

/**
 * Records refused access as events: per key, kind (code and route) and minute, the first refusal as
 * an event and the rest as one count (`minuteMeter`). A flood costs two events per minute, kind and
 * key, and an organization with more than 200 kinds one summary of the others.
 */
export const refusalMeter = (options: Options) => {
  const { record, clock, log = silent, sweepMs, organizationKinds, maxKinds, maxWriting } = options

  const write = (event: RefusalEvent, call: Call): Promise<void> =>
    record(event, call).catch((err) => {
      const fields = { err, reqId: call.requestId, ...event.data }
      log.error(fields, 'a refusal could not be recorded')
    })

  const meter = minuteMeter<Refused>({
    kindOf: ({ call: { keyId, userId }, code, method, route }) =>
      `${keyId ?? userId} ${code} ${method} ${route}`,
    groupOf: ({ code }) => code,
    recordFirst(refused) {
      const { askedFor, call } = refused
      const data = { ...refusalData(refused), ...(askedFor === undefined ? {} : { askedFor }) }
      return write({ type: 'AccessRefused', data }, call)
    },
    recordMore: (last, count) =>
      write({ type: 'AccessRefusedAgain', data: { ...refusalData(last), ...count } }, last.call),
    recordSummary({ organizationId }, count, codes) {
      const call = systemCall(clock.id(), clock.now(), organizationId)
      return write({ type: 'AccessRefusalsSummarized', data: { ...count, codes } }, call)
    },
    clock,
    sweepMs,
    organizationKinds,
    maxKinds,
    maxWriting,
  })
  return { refused: meter.add, close: meter.close }
}

export type RefusalMeter = ReturnType<typeof refusalMeter>
