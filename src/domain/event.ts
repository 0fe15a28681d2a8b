import { z } from 'zod'
import type { EventOf, EventTable } from './aggregate.ts'

/**
 * The `organization_id` of what belongs to no organization: the owner of the platform's own
 * history.
 */
export const platformId = 'platform'

/**
 * Who did it, for whom, under which request: stored beside every event
 * (docs/contract/history.md#events). `organization_id` is `platform` for what belongs to no
 * organization.
 */
export const metadata = z.object({
  organization_id: z.string(),
  actor: z.object({ key_id: z.string().nullable(), user_id: z.string().nullable() }),
  on_behalf_of: z.string().nullable(),
  request_id: z.string(),
  $correlationId: z.string(),
  $causationId: z.string(),
  schema_version: z.int().min(1),
  /** When it was appended: never earlier than an event that its process appended or read before. */
  at: z.iso.datetime(),
  /** Of the trace (W3C trace context) that it was part of, if there was one. */
  trace_id: z.string().optional(),
})
export type Metadata = z.infer<typeof metadata>

const isText = (value: unknown): boolean => typeof value === 'string'
const isTextOrNull = (value: unknown): boolean => value === null || isText(value)
const isVersion = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 1

const metadataFields: Readonly<Record<string, (value: unknown) => boolean>> = {
  organization_id: isText,
  actor: (value) =>
    typeof value === 'object' &&
    value !== null &&
    isTextOrNull(Reflect.get(value, 'key_id')) &&
    isTextOrNull(Reflect.get(value, 'user_id')),
  on_behalf_of: isTextOrNull,
  request_id: isText,
  at: (value) => isText(value) && !Number.isNaN(Date.parse(`${value}`)),
  schema_version: isVersion,
}
const metadataChecks = Object.entries(metadataFields)

/** Events of one append share their metadata, which is then checked once. */
let lastChecked: unknown
let lastFault: string | undefined

/** Why stored metadata is unreadable, without its content; undefined: it is readable. */
export const metadataFault = (metadata: unknown): string | undefined => {
  if (typeof metadata !== 'object' || metadata === null) return 'no metadata'
  if (metadata === lastChecked) return lastFault
  const [field] = metadataChecks.find(([name, fits]) => !fits(Reflect.get(metadata, name))) ?? []
  lastChecked = metadata
  lastFault = field === undefined ? undefined : `invalid metadata.${field}`
  return lastFault
}

/** Whose history a stored event belongs to: the platform's where its metadata cannot be read. */
export const ownerOf = ({ metadata }: { metadata: Metadata }): string =>
  metadataFault(metadata) === undefined ? metadata.organization_id : platformId

/** When a stored event was appended, in milliseconds since 1970; undefined: that cannot be read. */
export const timeOf = ({ metadata }: { metadata: Metadata }): number | undefined =>
  metadataFault(metadata) === undefined ? Date.parse(metadata.at) : undefined

/**
 * A place in the store's global order: of an event, or START. Opaque: positions are compared and
 * handed back to the store that gave them, never computed. They increase strictly, may have gaps
 * (EventStoreDB's are byte offsets), and are safe integers.
 */
export const position = z.int().brand<'Position'>()
export type Position = z.infer<typeof position>

/** The first of some positions. */
export const earliest = (...positions: readonly Position[]): Position =>
  positions.reduce((left, right) => (right < left ? right : left))

/** The last of some positions. */
export const latest = (...positions: readonly Position[]): Position =>
  positions.reduce((left, right) => (right > left ? right : left))

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
