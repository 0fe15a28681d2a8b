import { contentStream } from '../src/domain/content/content.ts'
import type { contentEvents } from '../src/domain/content/events.ts'
import type { Seen } from '../src/domain/event.ts'
import type { EventStore, RecordedEvent } from '../src/ports/event-store.ts'

type ContentEvents = typeof contentEvents

type Uses = {
  read: EventStore['read']
  /** Undefined for an event that this release cannot read. */
  decode(event: RecordedEvent): Seen<ContentEvents> | undefined
}

/** One attempt to generate an item; without an end, it is under way. */
export type Attempt = {
  attempt: number
  payerId: string
  start: Seen<ContentEvents, 'ContentRequested' | 'ContentRetryQueued'>
  end?: Seen<ContentEvents, 'ContentCompleted' | 'ContentFailed'>
}

type Generation = { request: Seen<ContentEvents, 'ContentRequested'>; attempts: readonly Attempt[] }

/** The request of a generated item and its attempts; undefined: there is no such item. */
export const readAttempts =
  ({ read, decode }: Uses) =>
  async (organizationId: string, contentId: string): Promise<Generation | undefined> => {
    const attempts: Attempt[] = []
    let request: Generation['request'] | undefined
    const { name } = contentStream(organizationId, contentId)
    for await (const batch of read(name))
      for (const event of batch.map(decode)) {
        if (event?.type === 'ContentRequested') {
          request = event
          attempts.push({ attempt: 0, payerId: event.data.payerId, start: event })
        } else if (event?.type === 'ContentRetryQueued') {
          const { attempt, payerId } = event.data
          attempts.push({ attempt, payerId, start: event })
        } else if (event?.type === 'ContentCompleted' || event?.type === 'ContentFailed') {
          const last = attempts.at(-1)
          if (last) last.end = event
        }
      }
    return request && { request, attempts }
  }
export type ReadAttempts = ReturnType<typeof readAttempts>
