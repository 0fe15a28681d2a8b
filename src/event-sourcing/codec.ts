import { z } from 'zod'
import type { EventTable } from '../domain/aggregate.ts'
import { metadataFault, type Seen } from '../domain/event.ts'
import {
  isRepaired,
  schemaVersionOf,
  upcast,
  type Versions,
  versions as written,
} from '../domain/versions.ts'
import { placeText, type RecordedEvent, UnreadableEvent } from '../ports/event-store.ts'

/** A stored event whose type, or the version of its schema, this release does not know. */
export class UnknownEvent extends Error {
  override readonly name = 'UnknownEvent'
  constructor(event: RecordedEvent, why = '') {
    super(`unknown event ${placeText(event)}${why}`)
  }
}

const refusal = (error: unknown): string =>
  error instanceof z.ZodError
    ? error.issues.map(({ code, path }) => `${code} at data.${path.join('.')}`).join(', ')
    : 'its older form could not be lifted'

/**
 * Reads stored events by a table: upcasts data of older schema versions, then parses it. What this
 * process decided itself was parsed by its schema before it was stored, and is parsed again only
 * once it is read from the disk.
 * @throws UnknownEvent: a later release may read it. UnreadableEvent: it violates its schema.
 */
export const decoder =
  <Table extends EventTable>(table: Table, versions: Versions = written) =>
  (recorded: RecordedEvent): Seen<Table> => {
    const { type, data, metadata } = recorded
    const schema = Object.hasOwn(table, type) ? table[type] : undefined
    if (!schema) throw new UnknownEvent(recorded)
    if (recorded.decided) return recorded as Seen<Table>
    const fault = metadataFault(metadata)
    if (fault !== undefined) throw new UnreadableEvent(recorded, fault)
    const { schema_version: version } = metadata
    const current = schemaVersionOf(type, versions)
    if (version > current)
      throw new UnknownEvent(recorded, `: schema version ${version}, known up to ${current}`)
    try {
      const lifted = version === current ? data : upcast(type, version, data, versions)
      return { ...recorded, data: schema.parse(lifted) } as Seen<Table>
    } catch (error) {
      throw new UnreadableEvent(recorded, refusal(error))
    }
  }

/**
 * Why an event cannot be read by the table of its category; undefined: it can, or it is unknown.
 */
export const faultOf = (table: EventTable, recorded: RecordedEvent): string | undefined => {
  try {
    decoder(table)(recorded)
  } catch (error) {
    if (error instanceof UnreadableEvent) return error.reason
  }
  return undefined
}

/** Whether an event that can be read violates the schema version it was stored with. */
export const isRepairedEvent = ({ type, data, metadata }: RecordedEvent): boolean =>
  isRepaired(type, metadata.schema_version, data)

/**
 * Calls a reader of an event. Returns the cause if the event is unreadable.
 * @throws every other error
 */
export const readableOr = <Event, Other>(
  read: () => Event,
  other: (unreadable: UnreadableEvent) => Other,
): Event | Other => {
  try {
    return read()
  } catch (error) {
    if (error instanceof UnreadableEvent) return other(error)
    throw error
  }
}

/** Reads stored events by a table; undefined for one that this release cannot read. */
export const tolerantDecoder = <Table extends EventTable>(table: Table) => {
  const decode = decoder(table)
  return (event: RecordedEvent): Seen<Table> | undefined => {
    try {
      return readableOr(
        () => decode(event),
        () => undefined,
      )
    } catch (error) {
      if (error instanceof UnknownEvent) return undefined
      throw error
    }
  }
}
