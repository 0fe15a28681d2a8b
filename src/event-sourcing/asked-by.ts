import type { EventStore } from '../ports/event-store.ts'

/**
 * The request that set something off, for the log: that of the first event which names it under `field`.
 * Without `field`: that of the stream's first event. Undefined where no such event can be read.
 */
export const askedBy =
  (read: EventStore['read']) =>
  async (stream: string, { from = 0, field = '', is = '' } = {}): Promise<string | undefined> => {
    try {
      for await (const batch of read(stream, from))
        for (const { data, metadata } of batch)
          if (field === '' || (data as Record<string, unknown>)[field] === is)
            return metadata.request_id
    } catch {
      // What is logged matters more.
    }
    return undefined
  }

export type AskedBy = ReturnType<typeof askedBy>
