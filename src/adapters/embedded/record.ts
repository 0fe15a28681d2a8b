import { crc32 } from 'node:zlib'
import type { Position } from '../../domain/event.ts'
import {
  MAX_APPEND_BYTES,
  type NewEvent,
  type RecordedEvent,
  START,
} from '../../ports/event-store.ts'
import { jsonCopy } from '../../support/json-copy.ts'

type Entry = [id: string, type: string, data: unknown, metadata?: NewEvent['metadata']]

/** The events of one append, as they are stored and as they are read. */
export type NewRecord = {
  /** Of the whole record. */
  text: string
  /** Of its first event. */
  revision: number
  /** What reading the record gives, but for positions; undefined where it has to be read for that. */
  events: RecordedEvent[] | undefined
  /** Of its text. */
  bytes: number
}

const beginningOf = (stream: string, revision: number): string =>
  `[${JSON.stringify(stream)},${revision}`

const readAs = (stream: string, revision: number, events: readonly NewEvent[]) => {
  const copies: RecordedEvent[] = []
  const shared = events[0]?.metadata
  const sharedCopy = jsonCopy(shared)
  for (const { id, type, data, metadata: own, decided } of events) {
    const copy = jsonCopy(data)
    const metadata = own === shared ? sharedCopy : jsonCopy(own)
    if (copy === undefined || metadata === undefined) return undefined
    const at = revision + copies.length
    const event = { id, type, data: copy, metadata, stream, revision: at, position: START }
    copies.push(decided ? { ...event, decided } : event)
  }
  return copies
}

/** Turns events into text at once, so that later changes by the caller are not stored. */
export const recordOf = (
  stream: string,
  revision: number,
  events: readonly NewEvent[],
): NewRecord => {
  const shared = events[0]?.metadata
  const entries = events.map(
    ({ id, type, data, metadata }): Entry =>
      metadata === shared ? [id, type, data] : [id, type, data, metadata],
  )
  const text = JSON.stringify([stream, revision, shared, entries])
  return {
    text,
    revision,
    events: readAs(stream, revision, events),
    bytes: Buffer.byteLength(text),
  }
}

/** The same events at another revision of their stream. */
export const recordAt = (stream: string, revision: number, record: NewRecord): NewRecord => {
  if (record.revision === revision) return record
  const rest = record.text.slice(beginningOf(stream, record.revision).length)
  const events = record.events?.map((event, n) => ({ ...event, revision: revision + n }))
  return { ...record, text: beginningOf(stream, revision) + rest, revision, events }
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/**
 * The size of an append as EventStoreDB counts it, every event with its metadata; roughly where it
 * is far below the limit.
 */
export const appendBytes = ({ bytes }: NewRecord, events: readonly NewEvent[]): number => {
  if (bytes * (events.length + 1) <= MAX_APPEND_BYTES) return bytes
  return events.reduce(
    (sum, { id, type, data, metadata }) => sum + bytesOf([id, type, data]) + bytesOf(metadata),
    0,
  )
}

/** The events of a record, whose last one has `position`. */
export const eventsOf = (record: string, position: number): readonly RecordedEvent[] => {
  const [stream, revision, shared, entries]: [string, number, NewEvent['metadata'], Entry[]] =
    JSON.parse(record)
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

/** Large values come from lmdb as plain arrays. */
export const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Encodes text after its checksum. Damaged bytes decode as undefined. */
export const checksummed = {
  encode(text: string): Buffer {
    const bytes = Buffer.allocUnsafe(4 + Buffer.byteLength(text))
    bytes.write(text, 4)
    bytes.writeUInt32LE(crc32(bytes.subarray(4)))
    return bytes
  },
  decode(read: Uint8Array, { end = read.length } = {}): string | undefined {
    const bytes = bufferOf(read)
    const sound = end >= 4 && bytes.readUInt32LE() === crc32(bytes.subarray(4, end))
    return sound ? bytes.toString('utf8', 4, end) : undefined
  },
}
