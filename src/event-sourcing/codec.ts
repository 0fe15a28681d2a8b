import { z } from 'zod'
import type { EventTable } from '../domain/aggregate.ts'
import type { Seen } from '../domain/event.ts'
import { schemaVersionOf, upcast, type Versions, versions as written } from '../domain/versions.ts'
import type { RecordedEvent } from '../ports/event-store.ts'

type Place = Pick<RecordedEvent, 'stream' | 'revision' | 'position' | 'type'>

const placed = ({ stream, revision, position, type }: Place) =>
  `${type} (${stream} at revision ${revision}, position ${position})`

/** A stored event whose type is not in the table it is read by. */
export class UnknownEvent extends Error {
  override readonly name = 'UnknownEvent'
  constructor(event: Place) {
    super(`unknown event ${placed(event)}`)
  }
}

/** A stored event that does not fit its schema. The message says where and why, without the data. */
export class UnreadableEvent extends Error {
  override readonly name = 'UnreadableEvent'
  constructor(event: Place, why: string) {
    super(`unreadable event ${placed(event)}: ${why}`)
  }
}

const refusal = (error: unknown): string =>
  error instanceof z.ZodError
    ? error.issues.map(({ code, path }) => `${code} at data.${path.join('.')}`).join(', ')
    : 'its older form could not be lifted'

/**
 * Reads stored events by a table: upcasts data of older schema versions, then parses it. What this process decided
 * itself was parsed by its schema before it was stored, and is not parsed again until it is read from the disk.
 * @throws UnknownEvent, UnreadableEvent
 */
export const decoder =
  <Table extends EventTable>(table: Table, versions: Versions = written) =>
  (recorded: RecordedEvent): Seen<Table> => {
    const { type, data, metadata } = recorded
    const schema = Object.hasOwn(table, type) ? table[type] : undefined
    if (!schema) throw new UnknownEvent(recorded)
    if (recorded.decided) return recorded as Seen<Table>
    const version = metadata?.schema_version
    const current = schemaVersionOf(type, versions)
    if (!(Number.isInteger(version) && version >= 1 && version <= current))
      throw new UnreadableEvent(recorded, `schema version ${version}, known up to ${current}`)
    try {
      const lifted = version === current ? data : upcast(type, version, data, versions)
      return { ...recorded, data: schema.parse(lifted) } as Seen<Table>
    } catch (error) {
      throw new UnreadableEvent(recorded, refusal(error))
    }
  }
