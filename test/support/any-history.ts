import fc from 'fast-check'
import { eventsByCategory } from '../../src/domain/categories.ts'
import { sample } from './events.ts'
import { metadata, recorded } from './recorded.ts'

const types = Object.entries(eventsByCategory).flatMap(([category, table]) =>
  Object.keys(table).map((type) => ({ category, type })),
)

type GeneratedEvent = {
  kind: { category: string; type: string }
  organization: number
  stream: number
  gap: number
  seconds: number
}

/** Events of every type in three organizations, in few streams, so that they meet. */
export const anyHistory: fc.Arbitrary<GeneratedEvent[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...types),
    organization: fc.integer({ min: 1, max: 3 }),
    stream: fc.integer({ min: 1, max: 2 }),
    gap: fc.oneof(
      { weight: 5, arbitrary: fc.constant(1) },
      fc.nat({ max: 20_000 }).map((n) => n + 1),
    ),
    seconds: fc.integer({ min: -90, max: 90 }),
  }),
  { minLength: 1, maxLength: 120 },
)

/** Generated events as a log holds them. */
export const recordedHistory = (generated: readonly GeneratedEvent[]) => {
  let position = -1
  return recorded(
    generated.map(({ kind: { category, type }, organization, stream, gap, seconds }, n) => {
      position += gap
      const organization_id = `org-${organization}`
      const at = new Date(Date.UTC(2026, 0, 1) + (n * 20 + seconds) * 1_000).toISOString()
      return {
        stream: `${category}-${organization_id}_${stream}`,
        position,
        type,
        data: sample(type).data,
        metadata: { ...metadata, organization_id, at },
      }
    }),
  )
}
