import t from 'tap'
import type { MessageReadEvent } from '../../src/domain/message-reads/events.ts'
import { readMeter } from '../../src/metering/read-meter.ts'
import type { Call } from '../../src/ports/call.ts'
import { call } from '../support/recorded.ts'
import { clockFrom } from '../support/ticking.ts'

const route = '/api/external/sessions/:session_id/messages'
const delegated: Call = { ...call, onBehalfOf: 'user-2' }

t.test(
  'the first read of a kind in a minute is an event, and the rest are one count',
  async (t) => {
    const events: MessageReadEvent[] = []
    const meter = readMeter({
      record: async (event) => {
        events.push(event)
      },
      clock: { ...clockFrom(call.at), now: () => new Date(call.at) },
      organizationKinds: 3,
    })
    for (let n = 0; n < 1_000; n++) meter.messagesRead(delegated, { route, sessionId: 'one' })
    meter.messagesRead({ ...delegated, onBehalfOf: 'user-3' }, { route, sessionId: 'one' })
    meter.messagesRead(delegated, { route, sessionId: 'two' })
    for (let n = 0; n < 500; n++) meter.messagesRead(delegated, { route, sessionId: `more-${n}` })
    meter.messagesRead(call, { route, sessionId: 'own' })
    await meter.close()
    t.match(events, [
      { type: 'MessagesRead', data: { route, sessionId: 'one' } },
      { type: 'MessagesRead', data: { route, sessionId: 'one' } },
      { type: 'MessagesRead', data: { route, sessionId: 'two' } },
      { type: 'MessagesReadAgain', data: { route, sessionId: 'one', count: 999 } },
      { type: 'MessageReadsSummarized', data: { count: 500, routes: { [route]: 500 } } },
    ])
    t.equal(events.length, 5, 'own reads are not recorded')
  },
)
