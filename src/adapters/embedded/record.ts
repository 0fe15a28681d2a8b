import { crc32 } from 'node:zlib'
import type { Position } from '../../domain/event.ts'
import type { NewEvent, RecordedEvent } from '../../ports/event-store.ts'

/**
 * The events of one append as stored, without their place: the shared metadata, then the events.
 */
type Body = {
  text: string
  events: number
  /** The size as EventStoreDB counts it: every event with its metadata. */
  bytes: number
}

type Entry = [id: string, type: string, data: unknown, metadata?: NewEvent['metadata']]

/** Turns events into text at once, so that later changes by the caller are not stored. */
export const recordBodyOf = (events: readonly NewEvent[]): Body => {
  const shared = events[0]?.metadata
  const metadata = JSON.stringify(shared)
  let sharing = 0
  const entries = events.map(({ id, type, data, metadata: own }): Entry => {
    const same = own === shared || JSON.stringify(own) === metadata
    if (same) sharing++
    return same ? [id, type, data] : [id, type, data, own]
  })
  const text = JSON.stringify(entries)
  return {
    text: `${metadata},${text}`,
    events: events.length,
    bytes: Buffer.byteLength(text) + sharing * Buffer.byteLength(metadata),
  }
}

export const recordOf = (stream: string, revision: number, { text }: Body): string =>
  `[${JSON.stringify(stream)},${revision},${text}]`

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

/** Encodes text after its checksum. Damaged bytes decode as undefined. */
export const checksummed = {
  encode(text: string): Buffer {
    const bytes = Buffer.allocUnsafe(4 + Buffer.byteLength(text))
    bytes.write(text, 4)
    bytes.writeUInt32LE(crc32(bytes.subarray(4)))
    return bytes
  },
  decode(bytes: Buffer, { end = bytes.length } = {}): string | undefined {
    const sound = end >= 4 && bytes.readUInt32LE() === crc32(bytes.subarray(4, end))
    return sound ? bytes.toString('utf8', 4, end) : undefined
  },
}
