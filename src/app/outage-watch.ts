import type { RecordOutageCommand } from '../../commands/record-outage.ts'
import { systemCall } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'

type Uses = {
  failingSince(): Date | undefined
  recordOutage: RecordOutageCommand
  clock: Clock
  log: Log
  everyMs?: number
}

/**
 * After a failed append, tries to record the outage until that succeeds: a process that is not
 * ready gets no requests, so it must find out by itself that it can write again.
 */
export const openOutageWatch = (uses: Uses) => {
  const { failingSince, recordOutage, clock, log, everyMs = 1_000 } = uses
  let trying: Promise<void> | undefined

  const record = async (from: Date): Promise<void> => {
    try {
      await recordOutage({ from }, systemCall(clock.id(), clock.now()))
      log.info({ from }, 'the event store can be written again')
    } catch (error) {
      log.warn({ from, reason: (error as Error).message }, 'the event store cannot be written')
    }
  }

  const timer = setInterval(() => {
    const from = failingSince()
    if (!from || trying) return
    trying = record(from).finally(() => {
      trying = undefined
    })
  }, everyMs).unref()

  return {
    async close(): Promise<void> {
      clearInterval(timer)
      await trying
    },
  }
}
