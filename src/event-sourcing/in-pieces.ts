import { MAX_APPEND_BYTES } from '../ports/event-store.ts'

/**
 * The most that one append takes by this estimate, so that the store's own count stays below its
 * limit.
 */
const most = MAX_APPEND_BYTES / 2
/** For the metadata of an event, in bytes. */
const metadata = 2_000

/** Roughly its bytes as JSON. */
const weightOf = (value: unknown): number => {
  if (typeof value === 'string') return Buffer.byteLength(value) + 4
  if (typeof value !== 'object' || value === null) return 8
  let weight = 2
  if (Array.isArray(value)) for (const item of value) weight += 5 + weightOf(item)
  else {
    const fields = value as Readonly<Record<string, unknown>>
    for (const name in fields) weight += name.length + 4 + weightOf(fields[name])
  }
  return weight
}

/**
 * Splits events into lists that a store takes in one append each, in their order. An event that is
 * too large for any append is a list by itself.
 */
export const inPieces = <Event extends { data: unknown }>(events: readonly Event[]): Event[][] => {
  const pieces: Event[][] = []
  let from = 0
  let room = most
  events.forEach((event, n) => {
    const weight = metadata + weightOf(event.data)
    if (weight > room && n > from) {
      pieces.push(events.slice(from, n))
      from = n
      room = most
    }
    room -= weight
  })
  const rest = events.slice(from)
  return rest.length > 0 ? [...pieces, rest] : pieces
}
