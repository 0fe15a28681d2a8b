import { randomUUID } from 'node:crypto'
import type { LogBatch, NewEvent, RecordedEvent } from '../../src/ports/event-store.ts'

/** A stream no other test has. */
export const streamName = () => `note-org-1_${randomUUID()}`

/** An event that says `note`, under an id of its own unless one is given. */
export const noted = (note: string, given: Partial<NewEvent> = {}): NewEvent => ({
  id: randomUUID(),
  type: 'Noted',
  data: { note },
  metadata: {
    organization_id: 'org-1',
    actor: { key_id: 'key-1', user_id: 'user-1' },
    on_behalf_of: null,
    request_id: 'request-1',
    $correlationId: 'correlation-1',
    $causationId: 'causation-1',
    schema_version: 1,
    at: '2026-01-01T00:00:00.000Z',
  },
  ...given,
})

/** All the events of a finite series of batches. */
export const gathered = async (
  batches: AsyncIterable<readonly RecordedEvent[]>,
): Promise<RecordedEvent[]> => {
  const events: RecordedEvent[] = []
  for await (const batch of batches) events.push(...batch)
  return events
}

/** The events that a feed gives, in its batches. */
export async function* batchEvents(
  feed: AsyncIterable<LogBatch>,
): AsyncGenerator<readonly RecordedEvent[], void> {
  for await (const { events } of feed) yield events
}
