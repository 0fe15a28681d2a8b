import type { EventOf, EventTable } from './aggregate.ts'

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
  /** ISO 8601, from the clock port. */
  at: string
}

/**
 * Where an event is stored, and its metadata. `revision` counts from 0 in its stream. `position` is
 * the store's global order: strictly increasing, not necessarily without gaps (EventStoreDB's are
 * byte offsets), and safe as a number.
 */
export type Recorded = {
  /** A UUID. */
  id: string
  stream: string
  revision: number
  position: number
  metadata: Metadata
}

/** A recorded event of one type, its data parsed. */
export type Seen<Table extends EventTable, T extends keyof Table = keyof Table> = Recorded &
  EventOf<Table, T>
