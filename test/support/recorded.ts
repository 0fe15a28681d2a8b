import { type Call, metadataOf } from '../../src/ports/call.ts'
import type { RecordedEvent } from '../../src/ports/event-store.ts'

/** A request of user-1 with key-1 in org-1, at a fixed time. */
export const call: Call = {
  organizationId: 'org-1',
  keyId: 'key-1',
  userId: 'user-1',
  onBehalfOf: null,
  requestId: 'request-1',
  correlationId: 'correlation-1',
  causationId: 'causation-1',
  at: '2026-01-01T00:00:00.000Z',
}

export const metadata = metadataOf(call, 1)

/** Events as a log would hold them: those of one stream in order, positions without gaps. */
export const recorded = (
  events: readonly (Pick<RecordedEvent, 'stream' | 'type' | 'data'> & Partial<RecordedEvent>)[],
): RecordedEvent[] => {
  const revisions = new Map<string, number>()
  return events.map((event, position) => {
    const revision = revisions.get(event.stream) ?? 0
    revisions.set(event.stream, revision + 1)
    return { id: `event-${position}`, metadata, revision, position, ...event }
  })
}
