import t from 'tap'
import { commanding } from '../support/commanding.ts'
import { call } from '../support/recorded.ts'

const { recordMessageRead, appended } = await commanding(t)
const route = '/api/external/sessions/:session_id/messages'

t.test('records a read per key, and a summary per organization', async (t) => {
  const read = { type: 'MessagesRead', data: { route, sessionId: 's' } } as const
  t.strictSame(await appended(() => recordMessageRead(read, { ...call, onBehalfOf: 'user-2' })), [
    { ...read, stream: 'reads-org-1_key-1' },
  ])
  const data = { count: 2, from: call.at, to: call.at, routes: { [route]: 2 } }
  const summary = { type: 'MessageReadsSummarized', data } as const
  t.strictSame(await appended(() => recordMessageRead(summary, { ...call, keyId: null })), [
    { ...summary, stream: 'reads-org-1_summary' },
  ])
})
