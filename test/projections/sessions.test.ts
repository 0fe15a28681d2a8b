import t from 'tap'
import { sessions } from '../../projections/sessions.ts'
import { handlesAll, projecting } from '../support/given.ts'
import { runningSession, sessionEvent, sessionStream } from '../support/session-events.ts'

const at = '2026-01-01T00:00:00.000Z'
const later = '2026-01-02T00:00:00.000Z'
const latest = '2026-01-03T00:00:00.000Z'

t.test('sessions', async (t) => {
  const seen = projecting(t, sessions, sessionStream)
  seen(...runningSession).shows({
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
  const routed = sessionEvent('AgentStarted', at, { agent: 'Librarian' })
  seen(...runningSession, routed).shows({
    run: { run_id: 'run-1', state: 'processing', started_at: at, current_agent: 'Librarian' },
  })
  const completion = [
    sessionEvent('AssistantMessageRecorded', later),
    sessionEvent('RunCompleted', latest),
  ]
  seen(...runningSession, ...completion).shows({
    message_count: 2,
    created_at: at,
    last_update_time: latest,
  })
  const runFields = { run_id: 'run-1', started_at: at, current_agent: 'Orchestrator' }
  const queued = [...runningSession.slice(0, -1), sessionEvent('RunStarted', at, { queued: true })]
  seen(...queued).shows({ run: { ...runFields, state: 'queued' } })
  seen(...queued, sessionEvent('RunDequeued', later)).shows({
    run: { ...runFields, state: 'processing', started_at: later },
  })
  const resumed = sessionEvent('RunResumed', latest)
  seen(...runningSession, resumed).shows({ run: { ...runFields, state: 'processing' } })
  seen(...runningSession, sessionEvent('RunPaused', later), resumed).shows({
    run: { ...runFields, state: 'processing', started_at: latest },
  })
  seen(...runningSession, sessionEvent('RunPaused', later)).shows({
    run: { ...runFields, state: 'awaiting_approval' },
    last_update_time: later,
  })
  const call = { toolId: 'call_1', at: '0/0/0', tool: 'pay', agent: 'Shop', argumentsDigest: 'one' }
  const other = { ...call, at: '0/0/1', argumentsDigest: 'two' }
  const state = 'in_doubt' as const
  const paused = sessionEvent('RunPaused', later, { state, inDoubt: [call, other] })
  const callFields = { run_id: 'run-1', tool_id: 'call_1', tool_name: 'pay', agent_name: 'Shop' }
  const first = { ...callFields, arguments_digest: 'one', at: '0/0/0' }
  const second = { ...callFields, arguments_digest: 'two', at: '0/0/1' }
  seen(...runningSession, paused).shows({ run: { ...runFields, state, in_doubt: [first, second] } })
  const outcomeTold = sessionEvent('ToolOutcomeTold', later)
  seen(...runningSession, paused, outcomeTold).shows({
    run: { ...runFields, state, in_doubt: [second] },
  })
  const again = sessionEvent('RunPaused', latest)
  seen(...runningSession, paused, outcomeTold, resumed, again).shows({
    run: { ...runFields, state: 'awaiting_approval', started_at: latest },
  })
  seen(...runningSession, paused, sessionEvent('RunCancelled', later)).shows({
    run: { ...runFields, state: 'ended' },
  })
  for (const type of ['RunCompleted', 'RunFailed', 'RunCancelled', 'RunTimedOut'] as const) {
    const state = type === 'RunTimedOut' ? 'timed_out' : 'ended'
    const run = { run_id: 'run-1', state, started_at: at, current_agent: 'Orchestrator' } as const
    seen(...runningSession, sessionEvent(type, later)).shows({ run, last_update_time: later })
    const other = sessionEvent(type, later, { runId: 'run-0' })
    seen(...runningSession, other).shows({ run: { ...run, state: 'processing' } })
  }
  seen(...runningSession, sessionEvent('ClientToolAnswered', latest)).shows({
    message_count: 2,
    last_update_time: latest,
  })
  seen(...runningSession, sessionEvent('SessionVisibilityChanged', later)).shows({
    hidden: true,
    last_update_time: at,
  })
  seen(sessionEvent('UserMessageSent')).showsNothing()
})

t.test('session ids of two organizations do not meet', async (t) => {
  const seen = projecting(t, sessions, sessionStream)
  seen(sessionEvent('SessionCreated')).shows({ session_id: 'session-1' }, 'org-1/session-1')
})

t.test('an erased session is not there', async (t) => {
  const erased = sessionEvent('SessionErased', later)
  projecting(t, sessions, sessionStream)(...runningSession, erased).showsNothing()
})

t.test('a fork', async (t) => {
  const seen = projecting(t, sessions, sessionStream)
  const copying = [sessionEvent('ForkBegun', at), sessionEvent('MessageForked', at)]
  seen(...copying).showsNothing()
  seen(...copying, sessionEvent('SessionForked', later)).shows({
    session_id: 'session-1',
    user_id: 'user-1',
    key_id: 'key-1',
    hidden: false,
    created_at: later,
    last_update_time: later,
    message_count: 2,
    run: null,
    forked_from: 'session-0',
    forked_after: 'message-2',
  })
})

t.test('every event it handles was given', async (t) => handlesAll(t, sessions))
