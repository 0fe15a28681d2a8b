import { crc32 } from 'node:zlib'
import type { Position } from '../../domain/event.ts'
import {
  MAX_APPEND_BYTES,
  type NewEvent,
  type RecordedEvent,
  START,
} from '../../ports/event-store.ts'
import { writeJson } from '../../support/json-bytes.ts'
import { utf8Of, type Writing } from '../../support/utf8.ts'

type Metadata = NewEvent['metadata']
/** An append as JSON; events whose metadata is that of the first leave it out. */
type Stored = [
  stream: string,
  revision: number,
  shared: Metadata,
  events: [id: string, type: string, data: unknown, metadata?: Metadata][],
]

/** Large values come from lmdb as plain arrays. */
export const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

export const checksumBytes = 4
const noChecksum = Buffer.alloc(checksumBytes)

/** Puts its checksum before a text that has room for it. */
const withChecksum = (bytes: Buffer): Buffer => {
  bytes.writeUInt32LE(crc32(bytes.subarray(checksumBytes)))
  return bytes
}

/** Whether a value, up to its end, is what was written after its checksum. */
export const isSound = (read: Uint8Array, end: number): boolean => {
  const bytes = bufferOf(read)
  return end >= checksumBytes && bytes.readUInt32LE() === crc32(bytes.subarray(checksumBytes, end))
}

/** Encodes text after its checksum. Damaged bytes decode as undefined. */
export const checksummed = {
  /** What is encoded already stays as it is. */
  encode(text: string | Buffer): Buffer {
    if (typeof text !== 'string') return text
    const bytes = Buffer.allocUnsafe(checksumBytes + Buffer.byteLength(text))
    bytes.write(text, checksumBytes)
    return withChecksum(bytes)
  },
  decode(read: Uint8Array, { end = read.length } = {}): string | undefined {
    return isSound(read, end) ? bufferOf(read).toString('utf8', checksumBytes, end) : undefined
  },
}

/** One append, as it is stored and as it is read. */
export type NewRecord = {
  stream: string
  /** Of its first event. */
  revision: number
  /** Its JSON after its checksum, as it is stored. */
  bytes: Buffer
  /** What reading the record gives; undefined where it has to be read for that. */
  events: RecordedEvent[] | undefined
  /** The position of the last event before it, and of its own last event, once it has them. */
  before: number
  last: number
}

const isDecided = ({ decided }: NewEvent): boolean => decided === true

const readAs = (stream: string, revision: number, events: readonly NewEvent[]) =>
  events.map(
    ({ id, type, data, metadata }, n): RecordedEvent => ({
      id,
      type,
      data,
      metadata,
      stream,
      revision: revision + n,
      position: START,
      decided: true,
    }),
  )

/** Writes an append as JSON, as `Stored`. Answers whether reading it gives the same events. */
const wroteRecord = (
  stream: string,
  revision: number,
  events: readonly NewEvent[],
  to: Writing,
): boolean => {
  const shared = events[0]?.metadata
  to.write('[')
  to.json(stream)
  to.write(',')
  to.write(String(revision))
  to.write(',')
  let same = writeJson(shared, to)
  to.write(',[')
  for (let n = 0; n < events.length; n++) {
    const { id, type, data, metadata } = events[n] as NewEvent
    to.write(n > 0 ? ',[' : '[')
    to.json(id)
    to.write(',')
    to.json(type)
    to.write(',')
    same = writeJson(data, to) && same
    if (metadata !== shared) {
      to.write(',')
      same = writeJson(metadata, to) && same
    }
    to.write(']')
  }
  to.write(']]')
  return same
}

/** Turns events into bytes at once, so that later changes by the caller are not stored. */
export const recordOf = (
  stream: string,
  revision: number,
  events: readonly NewEvent[],
): NewRecord => {
  let same = false
  const bytes = utf8Of((to) => {
    to.put(noChecksum)
    same = wroteRecord(stream, revision, events, to)
  })
  return {
    stream,
    revision,
    bytes: withChecksum(bytes),
    // Events decided here are immutable: if their bytes say the same, they are not read back.
    events: same && events.every(isDecided) ? readAs(stream, revision, events) : undefined,
    before: START,
    last: START,
  }
}

const beginningOf = (stream: string, revision: number): string =>
  `[${JSON.stringify(stream)},${revision}`

/** The same events at another revision of their stream. */
export const recordAt = (record: NewRecord, revision: number): NewRecord => {
  if (record.revision === revision) return record
  const { stream, bytes, events } = record
  const rest = bytes.toString(
    'utf8',
    checksumBytes + Buffer.byteLength(beginningOf(stream, record.revision)),
  )
  return {
    ...record,
    revision,
    bytes: checksummed.encode(beginningOf(stream, revision) + rest),
    events: events?.map((event, n) => ({ ...event, revision: revision + n })),
  }
}

/** Tells a record where it goes, before it is stored there. */
export const placed = (record: NewRecord, before: number, last: number): NewRecord => {
  const { events = [] } = record
  record.before = before
  record.last = last
  let position = last - events.length
  for (const event of events) event.position = ++position as Position
  return record
}

/** The stream of a record, and the revision of its last event there. */
export const lastEventOf = (record: string): { stream: string; revision: number } => {
  const [stream, revision, , events]: Stored = JSON.parse(record)
  return { stream, revision: revision + events.length - 1 }
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/**
 * The size of an append as EventStoreDB counts it, every event with its metadata; roughly where it
 * is far below the limit.
 */
export const appendBytes = (record: NewRecord, events: readonly NewEvent[]): number => {
  const { length } = record.bytes
  if (length * (events.length + 1) <= MAX_APPEND_BYTES) return length
  return events.reduce(
    (sum, { id, type, data, metadata }) => sum + bytesOf([id, type, data]) + bytesOf(metadata),
    0,
  )
}

/** The events of a record, whose last one has `position`. */
export const eventsOf = (record: string, position: number): readonly RecordedEvent[] => {
  const [stream, revision, shared, entries]: Stored = JSON.parse(record)
  const first = position - entries.length + 1
  return entries.map(([id, type, data, own], n) => ({
    id,
    type,
    data,
    metadata: own ?? shared,
    stream,
    revision: revision + n,
    position: (first + n) as Position,
  }))
}

/** The events of a record that was written here. */
export const recordEvents = ({ bytes, events, last }: NewRecord): readonly RecordedEvent[] =>
  events ?? eventsOf(bytes.toString('utf8', checksumBytes), last)

/** The ids of the events of a record that was made here. */
export const idsOf = (record: NewRecord): string[] => recordEvents(record).map(({ id }) => id)
