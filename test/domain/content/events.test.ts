import t from 'tap'
import { contentEvents } from '../../../src/domain/content/events.ts'
import { sample } from '../../support/events.ts'

const smallest = {
  ContentRequested: { maxRetries: 0, reserved: 0 },
  ContentStarted: { attempt: 0 },
  ContentCompleted: { size: 0, processingTimeMs: 0, charge: 0 },
  ContentFailed: { processingTimeMs: 0 },
  ContentRetryQueued: { attempt: 1 },
} as const

for (const [type, least] of Object.entries(smallest))
  for (const [field, value] of Object.entries(least)) {
    const schema = contentEvents[type as keyof typeof smallest]
    const event = { ...Object(sample(type).data), [field]: value }
    t.test(`${type} is stored with a ${field} of ${value}, and with none below`, async (t) => {
      t.strictSame(schema.parse(event), event)
      t.notOk(schema.safeParse({ ...event, [field]: value - 1 }).success)
    })
  }
