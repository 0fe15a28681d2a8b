import fc from 'fast-check'
import type { EventStore, RecordedEvent } from '../../src/ports/event-store.ts'
import { noted } from './noted.ts'
import { metadata, recorded } from './recorded.ts'

type Part = { organization: number; count: number; gap: number; seconds: number }

/** Of the seconds since the first event, more than any log of these takes. */
export const lastSecond = 3_000

const time = (seconds: number) => Date.UTC(2026, 0, 1) + seconds * 1_000

/** A time in milliseconds since 1970 that may be before, among or after those of the events. */
export const anyTime = fc.integer({ min: -30, max: lastSecond }).map(time)

/**
 * Logs of three organizations, some long enough for several stretches of the event index, with gaps
 * between positions and times that are slightly out of order.
 */
export const longHistory: fc.Arbitrary<RecordedEvent[]> = fc
  .array(
    fc.record({
      organization: fc.integer({ min: 1, max: 3 }),
      count: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 320 })),
      gap: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 50_000 })),
      seconds: fc.integer({ min: -20, max: 20 }),
    }),
    { minLength: 1, maxLength: 9 },
  )
  .map((parts) => {
    let position = -1
    let passed = 0
    const partEvents = ({ organization, count, gap, seconds }: Part) => {
      const organization_id = `org-${organization}`
      position += gap
      return Array.from({ length: count }, () => {
        const at = new Date(time(passed++ + seconds)).toISOString()
        return {
          stream: `box-${organization_id}_b-1`,
          type: 'BoxOpened',
          data: {},
          position: ++position,
          metadata: { ...metadata, organization_id, at },
        }
      })
    }
    return recorded(parts.flatMap(partEvents))
  })

/** A number near a log: before it, behind it, an event's position or none. */
export const placeIn = (events: readonly RecordedEvent[], part: number): number =>
  Math.floor(part * ((events.at(-1)?.position ?? 0) + 12)) - 1

/** A part of a log, for `placeIn`. */
export const anyPart = fc.double({ min: 0, max: 1, noNaN: true })

export const sometimes = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })

/** Appends events of three organizations in turn, 1 to 40 at once. */
export const appendInTurn = async (store: Pick<EventStore, 'append'>): Promise<void> => {
  for (let n = 0; n < 60; n++) {
    const organization_id = `org-${1 + (n % 3)}`
    const given = { metadata: { ...metadata, organization_id } }
    const events = Array.from({ length: 1 + ((n * 7) % 40) }, () => noted('a', given))
    await store.append(`note-${organization_id}_1`, 'any', events)
  }
}
