import type { EventStore } from '../ports/event-store.ts'

/**
 * The request id of the first event in a stream whose `field` has the value `is`, for the log.
 * Without `field`: of the stream's first event. Undefined where no such event can be read.
 */
export const findRequestId =
  ({ read }: { read: EventStore['read'] }) =>
  async (stream: string, { from = 0, field = '', is = '' } = {}): Promise<string | undefined> => {
    try {
      for await (const batch of read(stream, from))
        for (const { data, metadata } of batch)
          if (field === '' || (data as Record<string, unknown>)[field] === is)
            return metadata.request_id
    } catch {
      // The log message matters more than its request id.
    }
    return undefined
  }

export type FindRequestId = ReturnType<typeof findRequestId>
