import t from 'tap'
import { messages } from '../../projections/messages.ts'
import { handlesAll, projecting } from '../support/given.ts'
import { runningSession, sessionEvent, sessionStream } from '../support/session-events.ts'

const at = '2026-01-01T00:00:00.000Z'
const later = '2026-01-02T00:00:00.000Z'

const turn = [
  ...runningSession,
  sessionEvent('AssistantMessageRecorded', later),
  sessionEvent('RunCompleted', later),
]

t.test('messages', async (t) => {
  const seen = projecting(t, messages, sessionStream)
  seen(...turn).shows(
    {
      event_id: 'message-1',
      event_type: 'user_message',
      content: sessionEvent('UserMessageSent').data.content,
      agent: null,
      created_at: at,
      visibility: 'visible',
      organization_id: 'org-1',
      session_id: 'session-1',
      run_id: 'run-1',
      position: 1,
    },
    'message-1',
  )
  seen(...turn).shows(
    {
      event_id: 'message-2',
      event_type: 'assistant_message',
      agent: 'Librarian',
      created_at: later,
      position: 3,
    },
    'message-2',
  )
})

t.test('the result of a tool that a client has', async (t) => {
  projecting(
    t,
    messages,
    sessionStream,
  )(
    ...runningSession,
    sessionEvent('ClientToolAnswered', later, { messageId: 'message-3', toolId: 'call-1' }),
  ).shows(
    { event_id: 'message-3', event_type: 'tool_message', tool_call_id: 'call-1', agent: null },
    'message-3',
  )
})

t.test('messages of a fork', async (t) => {
  const forked = sessionEvent('MessageForked', later)
  const { content, toolCalls } = forked.data
  projecting(
    t,
    messages,
    sessionStream,
  )(forked).shows(
    {
      event_id: 'message-3',
      event_type: 'assistant_message',
      content,
      agent: 'Librarian',
      created_at: at,
      session_id: 'session-1',
      run_id: 'run-1',
      tool_calls: toolCalls,
      tool_call_id: 'call_0',
      forked_from: 'message-2',
    },
    'message-3',
  )
})

t.test('nothing is shown of an erased session', async (t) => {
  const erased = sessionEvent('SessionErased', later)
  projecting(t, messages, sessionStream)(...turn, erased).showsNothing()
})

t.test('every event it handles was given', async (t) => handlesAll(t, messages))
