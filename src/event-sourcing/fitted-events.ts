import type { z } from 'zod'
import type { EventTable } from '../domain/aggregate.ts'
import { type Metadata, metadata as metadataSchema } from '../domain/event.ts'
import { schemaVersionOf } from '../domain/versions.ts'
import { AppendTooLarge, MAX_APPEND_BYTES, type NewEvent } from '../ports/event-store.ts'
import { NotStorable, storedForm } from './stored-form.ts'

type Event = { type: string; data: unknown }

/** A decided event that nobody could read: a bug of ours. It names type and field, never data. */
export class EventMisfit extends Error {
  override readonly name = 'EventMisfit'
  /** Its type. */
  readonly event: string
  /** Of the field that does not fit. */
  readonly path: string
  constructor(event: string, path: readonly PropertyKey[]) {
    const field = path.map(String).join('.')
    super(`${event} cannot be stored: ${field} does not fit`)
    this.event = event
    this.path = field
  }
}

/** Whether an error says that events can be stored nowhere and at no time; none of their decision are. */
export const isUnstorable = (error: unknown): error is EventMisfit | AppendTooLarge =>
  error instanceof EventMisfit || error instanceof AppendTooLarge

type Fit = { value: unknown; bytes: number }

const storedFormOf = (type: string, part: string, value: unknown): Fit => {
  try {
    return storedForm(value)
  } catch (error) {
    throw error instanceof NotStorable ? new EventMisfit(type, [part, ...error.path]) : error
  }
}

/** What will be read: the value after JSON, by its schema. @throws EventMisfit */
const fitted = (type: string, part: string, schema: z.ZodType, value: unknown): Fit => {
  const form = storedFormOf(type, part, value)
  const read = schema.safeParse(form.value)
  if (!read.success) throw new EventMisfit(type, [part, ...(read.error.issues[0]?.path ?? [])])
  return { value: read.data, bytes: form.bytes }
}

/** For the id of an event and the marks around it. */
const idBytes = 50

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** The larger of what the stores count, or a little more. */
const appendBytes = (events: readonly Event[], metadata: Metadata): number => {
  let sum = events.length * (bytesOf(metadata) + idBytes)
  for (const { type, data } of events) sum += 2 * type.length + bytesOf(data)
  return sum
}

/**
 * The events of one decision as they will be read, with the metadata that each is stored with.
 * @throws EventMisfit where one could not be read; AppendTooLarge where no append takes them
 */
export const fittedEvents = (
  table: EventTable,
  decided: readonly Event[],
  metadata: Metadata,
): Pick<NewEvent, 'type' | 'data' | 'metadata'>[] => {
  const [first] = decided
  if (!first) return []
  const shared = fitted(first.type, 'metadata', metadataSchema, metadata)
  const own = shared.value as Metadata
  let bytes = 0
  const events = decided.map(({ type, data }) => {
    const schema = Object.hasOwn(table, type) ? table[type] : undefined
    if (!schema) throw new EventMisfit(type, ['type'])
    const fit = fitted(type, 'data', schema, data)
    bytes += fit.bytes + shared.bytes + 2 * type.length + idBytes
    const version = schemaVersionOf(type)
    return {
      type,
      data: fit.value,
      metadata: version === own.schema_version ? own : { ...own, schema_version: version },
    }
  })
  // The first count is of the most that they may take.
  const size = bytes > MAX_APPEND_BYTES ? appendBytes(events, own) : bytes
  if (size > MAX_APPEND_BYTES)
    throw new AppendTooLarge(`${size} bytes of at most ${MAX_APPEND_BYTES} in one decision`)
  return events
}
