import { z } from 'zod'
import type { EventOf, EventTable } from './aggregate.ts'

/** The `organization_id` of what belongs to no organization: the owner of the platform's own history. */
export const platformId = 'platform'

/**
 * Who did it, for whom, under which request: stored beside every event (docs/contract/history.md#events).
 * `organization_id` is `platform` for what belongs to no organization.
 */
export type Metadata = {
  organization_id: string
  actor: { key_id: string | null; user_id: string | null }
  on_behalf_of: string | null
  request_id: string
  $correlationId: string
  $causationId: string
  schema_version: number
  /** When it was appended, in ISO 8601: never earlier than the event before it. */
  at: string
  /** Of the trace (W3C trace context) that it was part of, if there was one. */
  trace_id?: string
}

/**
 * A place in the store's global order: of an event, or START. Opaque: positions are compared and
 * handed back to the store that gave them, never computed. They increase strictly, may have gaps
 * (EventStoreDB's are byte offsets), and are safe integers.
 */
export const position = z.int().brand<'Position'>()
export type Position = z.infer<typeof position>

/** The first of some positions. */
export const earliest = (...positions: readonly Position[]): Position =>
  positions.reduce((one, other) => (other < one ? other : one))

/** The last of some positions. */
export const latest = (...positions: readonly Position[]): Position =>
  positions.reduce((one, other) => (other > one ? other : one))

/** Where an event is stored, and its metadata. `revision` counts from 0 in its stream. */
export type Recorded = {
  /** A UUID. */
  id: string
  stream: string
  revision: number
  position: Position
  metadata: Metadata
}

/** A recorded event of one type, its data parsed. */
export type Seen<Table extends EventTable, T extends keyof Table = keyof Table> = Recorded &
  EventOf<Table, T>
