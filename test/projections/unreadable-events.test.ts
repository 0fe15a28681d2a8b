import t from 'tap'
import { unreadableEvents } from '../../projections/unreadable-events.ts'
import type { RecordedEvent } from '../../src/ports/event-store.ts'
import { sample } from '../support/events.ts'
import { metadata, recorded } from '../support/recorded.ts'

const { id, fold } = unreadableEvents.stored

const stored = (type: string, change: object | null = {}, own = metadata): RecordedEvent => {
  const { category, data } = sample(type)
  const fullData = change && { ...Object(data), ...change }
  const stream = `${category}-org-1_1`
  const [event] = recorded([{ stream, type, data: fullData, metadata: own, position: 7 }])
  if (!event) throw new Error('nothing recorded')
  return event
}

const viewOf = (event: RecordedEvent) => {
  const name = id(event)
  return name === undefined ? undefined : fold(undefined, [event], name).view
}

t.test(
  'an event that violates its schema is listed with position, stream and reason',
  async (t) => {
    const event = stored('ApiKeyRevoked', null)
    t.equal(id(event), '7')
    t.strictSame(viewOf(event), {
      position: 7,
      organization_id: 'org-1',
      stream: 'apikey-org-1_1',
      revision: 0,
      type: 'ApiKeyRevoked',
      reason: 'invalid_type at data.',
      unreadable: true,
    })
    const broken = { ...metadata, at: 'never' }
    t.match(viewOf(stored('ApiKeyRevoked', {}, broken)), { reason: 'invalid metadata.at' })
  },
)

t.test('a repaired event is listed as repaired', async (t) => {
  const view = viewOf(stored('RunCompleted', { durationMs: -5 }))
  t.match(view, { position: 7, repaired: true, reason: 'repaired' })
  t.notMatch(view, { unreadable: true })
})

t.test('readable and unknown events and later versions are not listed', async (t) => {
  t.equal(viewOf(stored('RunCompleted')), undefined)
  t.equal(viewOf({ ...stored('RunCompleted'), type: 'RunMelted' }), undefined)
  t.equal(viewOf({ ...stored('RunCompleted'), stream: 'oven-1' }), undefined)
  const later = { ...metadata, schema_version: 9 }
  t.equal(viewOf(stored('RunCompleted', { durationMs: -5 }, later)), undefined)
})
