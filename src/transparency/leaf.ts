import { hash } from 'node:crypto'
import type { RecordedEvent } from '../ports/event-store.ts'
import { canonicalJson, quoted } from './canonical-json.ts'

/** In bytes: an entry bundle has two bytes for a leaf's length. */
const maxLeaf = 65_535

/** An event as stored, with metadata of any form. */
type Stored = Omit<RecordedEvent, 'metadata'> & { metadata: unknown }

/** Remembers the last text: the events of one append share one object as their metadata. */
const metadataText = (() => {
  let last: unknown
  let text = ''
  return (metadata: unknown): string => {
    if (metadata !== last) {
      text = canonicalJson(metadata)
      last = metadata
    }
    return text
  }
})()

const lineWith = (event: Stored, data: string): string => {
  const { id, metadata, position, revision, stream, type } = event
  return `{"data":${data},"id":${quoted(id)},"metadata":${metadataText(metadata)},"position":${position},"revision":${revision},"stream":${quoted(stream)},"type":${quoted(type)}}`
}

/**
 * A stored event as an export has it: the RFC 8785 JSON of {data, id, metadata, position, revision,
 * stream, type}. Texts in it are sealed, as they are in the log: erasing them changes no line.
 */
export const lineOf = (event: Stored): string => lineWith(event, canonicalJson(event.data))

const fits = (line: string): boolean =>
  line.length * 3 <= maxLeaf || Buffer.byteLength(line) <= maxLeaf

/** With `{"$sha256": …}`, in hex, of the RFC 8785 JSON of the data in its place. */
const shortened = (event: Stored): string =>
  lineWith(event, `{"$sha256":"${hash('sha256', canonicalJson(event.data))}"}`)

/** The leaf of an event: its line, or its shortened line if the line is over 65,535 bytes. */
export const leafOf = (event: Stored): string => {
  const line = lineOf(event)
  return fits(line) ? line : shortened(event)
}

/** The leaf of an exported line. @throws SyntaxError when a long line is not JSON */
export const leafOfLine = (line: string): string =>
  fits(line) ? line : shortened(JSON.parse(line))
