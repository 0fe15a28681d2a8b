import type { EventProjection } from '../../projections/projection.ts'
import type { EventTable } from '../domain/aggregate.ts'
import {
  type Metadata,
  metadataFault,
  type Position,
  platformId,
  type Seen,
} from '../domain/event.ts'
import type { RecordedEvent, UnreadableEvent } from '../ports/event-store.ts'
import type { Scalar } from '../ports/views.ts'

/** An event that was set aside because it is unreadable. The reason does not show its data. */
export type SetAsideEvent = {
  position: Position
  stream: string
  revision: number
  type: string
  reason: string
}

/**
 * The unreadable events of a fold. Documents that a stream changes after its first unreadable event
 * are incomplete. `known` are those of the fold that this one continues.
 */
export const setAside = (
  known: readonly SetAsideEvent[] = [],
  onAdded: (event: SetAsideEvent) => void = () => undefined,
) => {
  const events = new Map<Position, SetAsideEvent>()
  /** The first position, by stream. */
  const streams = new Map<string, Position>()

  const note = (event: SetAsideEvent): void => {
    const { position, stream } = event
    events.set(position, event)
    streams.set(stream, Math.min(streams.get(stream) ?? position, position) as Position)
  }
  for (const event of known) note(event)

  return {
    add({ place, reason }: UnreadableEvent): void {
      if (events.has(place.position)) return
      const event = { ...place, reason }
      note(event)
      onAdded(event)
    },
    learn(others: readonly SetAsideEvent[]): void {
      for (const event of others) note(event)
    },
    /** Whether an unreadable event comes before this one in its stream. */
    isIncomplete({ stream, position }: Pick<RecordedEvent, 'stream' | 'position'>): boolean {
      if (streams.size === 0) return false
      const first = streams.get(stream)
      return first !== undefined && first < position
    },
    /** In the order of the log. */
    events: (): SetAsideEvent[] =>
      [...events.values()].toSorted((left, right) => left.position - right.position),
  }
}

export type SetAside = ReturnType<typeof setAside>

const ownerInName = /^[^-]+-([^_]+)_/

const nowhere: Metadata = {
  organization_id: platformId,
  actor: { key_id: null, user_id: null },
  on_behalf_of: null,
  request_id: '',
  $correlationId: '',
  $causationId: '',
  schema_version: 1,
  at: new Date(0).toISOString(),
}

/** An id that any store can look up. */
const isId = (id: unknown): id is string =>
  typeof id === 'string' && /^[\x21-\x7e]{1,256}$/.test(id)

type OfStream = { index: string; equals: readonly Scalar[] }

const answerOr = <Answer>(ask: () => Answer, other: Answer): Answer => {
  try {
    return ask()
  } catch {
    return other
  }
}

/**
 * The documents to mark for an unreadable event: those that it names, and those of its stream. Its
 * organization comes from the stream's name.
 */
export const legibleIn = (
  projection: EventProjection,
  recorded: RecordedEvent,
): { event: Seen<EventTable>; ids: readonly string[]; stream: OfStream | undefined } => {
  const { data, metadata, stream } = recorded
  const own = metadataFault(metadata) === undefined ? metadata : nowhere
  const organization_id = ownerInName.exec(stream)?.[1] ?? own.organization_id
  const isData = typeof data === 'object' && data !== null
  const event = {
    ...recorded,
    data: isData ? data : {},
    metadata: { ...own, organization_id },
  } as Seen<EventTable>
  return {
    event,
    ids: answerOr(() => [projection.id(event)].flat().filter(isId), []),
    stream: answerOr(() => projection.ofStream?.(event), undefined),
  }
}
