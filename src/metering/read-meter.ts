import type { RecordMessageReadCommand } from '../../commands/record-message-read.ts'
import type { MessageReadEvent } from '../domain/message-reads/events.ts'
import { type Call, systemCall } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'
import { type Log, silent } from '../ports/log.ts'
import { minuteMeter } from './minute-meter.ts'

type Options = {
  record: RecordMessageReadCommand
  clock: Clock
  log?: Log
  sweepMs?: number
  /** How many kinds are counted apart in one organization. */
  organizationKinds?: number
}

/** The route, and the session or run. */
export type ReadMessages = MessageReadEvent<'MessagesRead'>['data']

/**
 * Records reads of what users said by those who act for them: per key, user, session, route and
 * minute, the first as an event and the rest as one count (`minuteMeter`). No request waits for
 * this.
 */
export const readMeter = ({ record, clock, log = silent, sweepMs, organizationKinds }: Options) => {
  const write = (event: MessageReadEvent, call: Call): Promise<void> =>
    record(event, call).catch((err) => {
      log.error({ err, reqId: call.requestId, ...event.data }, 'a read could not be recorded')
    })

  const meter = minuteMeter<{ call: Call; read: ReadMessages }>({
    kindOf: ({ call: { keyId, userId, onBehalfOf }, read: { route, sessionId, runId } }) =>
      JSON.stringify([keyId ?? userId, onBehalfOf, route, sessionId, runId]),
    groupOf: ({ read }) => read.route,
    recordFirst: ({ call, read }) => write({ type: 'MessagesRead', data: read }, call),
    recordMore: ({ call, read }, count) =>
      write({ type: 'MessagesReadAgain', data: { ...read, ...count } }, call),
    recordSummary({ organizationId }, count, routes) {
      const call = systemCall(clock.id(), clock.now(), organizationId)
      return write({ type: 'MessageReadsSummarized', data: { ...count, routes } }, call)
    },
    clock,
    sweepMs,
    organizationKinds,
  })

  return {
    /** Only reads for somebody else are recorded. */
    messagesRead(call: Call, read: ReadMessages): void {
      if (call.onBehalfOf) meter.add({ call, read })
    },
    close: meter.close,
  }
}
export type ReadMeter = ReturnType<typeof readMeter>
