import t from 'tap'
import { apiKeyEvents } from '../../../src/domain/api-key/events.ts'
import { sample } from '../../support/events.ts'

for (const field of ['rateLimitMinute', 'rateLimitHour'])
  t.test(`a key is stored with a ${field} of 1, and with none below`, async (t) => {
    const event = (limit: number) => ({ ...Object(sample('ApiKeyCreated').data), [field]: limit })
    t.strictSame(apiKeyEvents.ApiKeyCreated.parse(event(1)), event(1))
    t.notOk(apiKeyEvents.ApiKeyCreated.safeParse(event(0)).success)
  })
