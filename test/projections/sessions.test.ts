import t from 'tap'
import { messages } from '../../projections/messages.ts'
import { runs } from '../../projections/runs.ts'
import { sessions } from '../../projections/sessions.ts'
import { sessionEvents } from '../../src/domain/session/events.ts'
import { sample } from '../support/events.ts'
import { projecting } from '../support/given.ts'

const at = '2026-01-01T00:00:00.000Z'
const later = '2026-01-02T00:00:00.000Z'
const latest = '2026-01-03T00:00:00.000Z'
const stream = 'session-org-1_session-1'

/** Events as their frozen samples have them, some fields changed. */
const event = <Type extends keyof typeof sessionEvents>(type: Type, at?: string) => ({
  type,
  // biome-ignore lint/suspicious/noExplicitAny: the schema of the type gives its data
  data: sessionEvents[type].parse(sample(type).data) as any,
  ...(at ? { at } : {}),
})

const begun = [event('SessionCreated'), event('UserMessageSent'), event('RunStarted')]

t.test('sessions', async (t) => {
  const seen = projecting(t, sessions, stream)
  seen(...begun).shows({
    session_id: 'session-1',
    organization_id: 'org-1',
    user_id: 'user-1',
    key_id: 'key-1',
    hidden: false,
    created_at: at,
    last_update_time: at,
    is_active: true,
    message_count: 1,
    run: {
      run_id: 'run-1',
      state: 'processing',
      started_at: at,
      current_agent: 'Orchestrator',
    },
  })
  const routed = event('AgentStarted')
  routed.data.agent = 'Librarian'
  seen(...begun, routed).shows({
    run: { run_id: 'run-1', state: 'processing', started_at: at, current_agent: 'Librarian' },
  })
  const answered = [event('AssistantMessageRecorded', later), event('RunCompleted', latest)]
  seen(...begun, ...answered).shows({ message_count: 2, created_at: at, last_update_time: latest })
  for (const type of ['RunCompleted', 'RunFailed', 'RunCancelled', 'RunTimedOut'] as const) {
    const state = type === 'RunTimedOut' ? 'timed_out' : 'ended'
    const run = { run_id: 'run-1', state, started_at: at, current_agent: 'Orchestrator' } as const
    seen(...begun, event(type, later)).shows({ run, last_update_time: later })
    const other = event(type, later)
    other.data.runId = 'run-0'
    seen(...begun, other).shows({ run: { ...run, state: 'processing' } })
  }
  seen(...begun, event('SessionVisibilityChanged', later)).shows({
    hidden: true,
    last_update_time: at,
  })
  seen(event('UserMessageSent')).showsNothing()
})

t.test('session ids of two organizations do not meet', async (t) => {
  const seen = projecting(t, sessions, stream)
  seen(event('SessionCreated')).shows({ session_id: 'session-1' }, 'org-1/session-1')
})

t.test('messages', async (t) => {
  const seen = projecting(t, messages, stream)
  const all = [...begun, event('AssistantMessageRecorded', later), event('RunCompleted', later)]
  seen(...all).shows(
    {
      event_id: 'message-1',
      event_type: 'user_message',
      content: event('UserMessageSent').data.content,
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
  seen(...all).shows(
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

t.test('runs', async (t) => {
  const seen = projecting(t, runs, stream)
  seen(...begun).shows({
    run_id: 'run-1',
    session_id: 'session-1',
    message_id: 'message-1',
    organization_id: 'org-1',
    key_id: 'key-1',
    payer_id: 'user-1',
    agent: 'Orchestrator',
    node: 'node-1',
    status: 'running',
    open: true,
    fingerprint: 'bqk2c4Yw',
    started_at: at,
    ended_at: null,
    charge: 0,
  })
  const answer = event('AssistantMessageRecorded', later)
  seen(...begun, answer, event('RunCompleted', later)).shows({
    status: 'completed',
    agent: 'Librarian',
    answer_id: 'message-2',
    ended_at: later,
    finish_reason: 'tool_calls',
    tool_calls: [{ id: 'call_2', name: 'end_call' }],
    prompt_tokens: 120,
    completion_tokens: 35,
    charge: 650,
  })
  const ends = {
    RunFailed: { status: 'failed', error_code: 'llm_service_unavailable', charge: 0 },
    RunCancelled: { status: 'cancelled', charge: 650 },
    RunTimedOut: { status: 'timed_out', charge: 0 },
  } as const
  for (const type of ['RunFailed', 'RunCancelled', 'RunTimedOut'] as const)
    seen(...begun, event(type, later)).shows({ ...ends[type], ended_at: later })
  seen(event('RunCompleted')).showsNothing()
})

t.test('nothing is shown of an erased session', async (t) => {
  const all = [...begun, event('AssistantMessageRecorded'), event('SessionErased', later)]
  projecting(t, sessions, stream)(...all).showsNothing()
  projecting(t, messages, stream)(...all).showsNothing()
  projecting(t, runs, stream)(...all).showsNothing()
})
