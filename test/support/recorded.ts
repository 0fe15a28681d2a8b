import { type Call, metadataOf } from '../../src/ports/call.ts'
import { type LogBatch, type RecordedEvent, START } from '../../src/ports/event-store.ts'
import { at } from './positions.ts'

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

/** A request that the platform's key makes. */
export const platformCall: Call = {
  ...call,
  organizationId: 'platform',
  keyId: null,
  userId: null,
}

export const metadata = metadataOf(call, 1, call.at)

type Given = Pick<RecordedEvent, 'stream' | 'type' | 'data'> &
  Partial<Omit<RecordedEvent, 'position'>> & { position?: number }

/** Events as a log would hold them: those of one stream in order, positions without gaps. */
export const recorded = (events: readonly Given[]): RecordedEvent[] => {
  const revisions = new Map<string, number>()
  return events.map((event, n) => {
    const revision = revisions.get(event.stream) ?? 0
    revisions.set(event.stream, revision + 1)
    return { id: `event-${n}`, metadata, revision, ...event, position: at(event.position ?? n) }
  })
}

/** Events as a feed gives them. */
export const batchOf = (events: readonly RecordedEvent[]): LogBatch => ({
  events,
  position: events.at(-1)?.position ?? START,
})
