import type { z } from 'zod'
import type { EventTable } from '../domain/aggregate.ts'
import { type Metadata, metadata as metadataSchema } from '../domain/event.ts'
import { AppendTooLarge, MAX_APPEND_BYTES } from '../ports/event-store.ts'
import { type Look, NotStorable, storedForm } from './stored-form.ts'

type Event = { type: string; data: unknown }

/** A decided event outside its schema: a bug of ours. It names type and field, never data. */
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

/**
 * Whether an error says that events can be stored nowhere and at no time; none of their decision
 * are.
 */
export const isUnstorable = (error: unknown): error is EventMisfit | AppendTooLarge =>
  error instanceof EventMisfit || error instanceof AppendTooLarge

const storedFormOf = (type: string, part: string, value: unknown, look: Look): unknown => {
  try {
    return storedForm(value, look)
  } catch (error) {
    throw error instanceof NotStorable ? new EventMisfit(type, [part, ...error.path]) : error
  }
}

/** The value as a later read returns it: after JSON, parsed by its schema. @throws EventMisfit */
const parse = <Schema extends z.ZodType>(
  type: string,
  part: string,
  schema: Schema,
  value: unknown,
  look: Look,
): z.infer<Schema> => {
  const read = schema.safeParse(storedFormOf(type, part, value, look))
  if (!read.success) throw new EventMisfit(type, [part, ...(read.error.issues[0]?.path ?? [])])
  return read.data
}

/** Bytes for an event's id and punctuation. */
const idBytes = 50

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** An upper bound of the sizes that the stores count. */
const appendBytes = (events: readonly Event[], metadata: Metadata): number => {
  let sum = events.length * (bytesOf(metadata) + idBytes)
  for (const { type, data } of events) sum += 2 * type.length + bytesOf(data)
  return sum
}

/**
 * The events of one decision and their metadata, as they will be read.
 * @throws EventMisfit where one could not be read; AppendTooLarge where no append takes them
 */
export const checkEvents = (
  table: EventTable,
  decided: readonly Event[],
  metadata: Metadata,
): { events: readonly Event[]; metadata: Metadata } => {
  const [first] = decided
  if (!first) return { events: decided, metadata }
  const look: Look = { bytes: 0, changes: false }
  const shared = parse(first.type, 'metadata', metadataSchema, metadata, look)
  const repeated = (look.bytes + idBytes) * decided.length
  const events = decided.map(({ type, data }) => {
    const schema = Object.hasOwn(table, type) ? table[type] : undefined
    if (!schema) throw new EventMisfit(type, ['type'])
    look.bytes += 2 * type.length
    return { type, data: parse(type, 'data', schema, data, look) }
  })
  // The first count is an upper bound.
  const most = look.bytes + repeated
  const bytes = most > MAX_APPEND_BYTES ? appendBytes(events, shared) : most
  if (bytes > MAX_APPEND_BYTES)
    throw new AppendTooLarge(`${bytes} bytes of at most ${MAX_APPEND_BYTES} in one decision`)
  return { events, metadata: shared }
}
