import t from 'tap'
import { type RunView, runs } from '../../projections/runs.ts'
import { handlesAll, projecting } from '../support/given.ts'
import { runningSession, sessionEvent, sessionStream } from '../support/session-events.ts'
import { viewAfter } from '../support/view-after.ts'

const at = '2026-01-01T00:00:00.000Z'
const later = '2026-01-02T00:00:00.000Z'

t.test('runs', async (t) => {
  const seen = projecting(t, runs, sessionStream)
  seen(...runningSession).shows({
    run_id: 'run-1',
    session_id: 'session-1',
    message_id: 'message-1',
    organization_id: 'org-1',
    key_id: 'key-1',
    payer_id: 'user-1',
    user_id: 'user-1',
    agent: 'Orchestrator',
    node: 'node-1',
    status: 'running',
    open: true,
    fingerprint: undefined,
    started_at: at,
    ended_at: null,
    charge: 0,
  })
  seen(...runningSession, sessionEvent('RunResumed', later)).shows({
    node: 'node-2',
    attempt: 2,
    status: 'running',
    started_at: at,
  })
  const queued = [...runningSession.slice(0, -1), sessionEvent('RunStarted', at, { queued: true })]
  seen(...queued).shows({ status: 'queued', open: true, started_at: at })
  seen(...queued, sessionEvent('RunDequeued', later)).shows({
    node: 'node-2',
    attempt: undefined,
    status: 'running',
    open: true,
    started_at: at,
    waited_until: later,
  })
  const answer = sessionEvent('AssistantMessageRecorded', later)
  seen(...runningSession, answer, sessionEvent('RunCompleted', later)).shows({
    status: 'completed',
    open: undefined,
    model: 'openai/gpt-4o',
    agent: 'Librarian',
    answer_id: 'message-2',
    ended_at: later,
    finish_reason: 'tool_calls',
    tool_calls: [{ id: 'call_2', name: 'end_call' }],
    prompt_tokens: 120,
    completion_tokens: 35,
    charge: 650,
  })
  const endFields = {
    RunFailed: { status: 'failed', error_code: 'llm_service_unavailable', charge: 0 },
    RunCancelled: { status: 'cancelled', charge: 650 },
    RunTimedOut: { status: 'timed_out', charge: 0 },
  } as const
  for (const type of ['RunFailed', 'RunCancelled', 'RunTimedOut'] as const)
    seen(...runningSession, sessionEvent(type, later)).shows({
      ...endFields[type],
      ended_at: later,
    })
  seen(...runningSession, sessionEvent('RunPaused')).shows({ waits: 'awaiting_approval' })
  for (const type of ['RunResumed', 'RunCancelled', 'RunCompleted'] as const)
    seen(...runningSession, sessionEvent('RunPaused'), sessionEvent(type)).shows({
      waits: undefined,
    })
  const paused = [...runningSession, sessionEvent('RunPaused', later)]
  for (const type of ['ApprovalDecided', 'ApprovalExpired', 'ToolOutcomeTold'] as const) {
    seen(...paused, sessionEvent(type)).shows({ status: 'awaiting_approval', decided: true })
    seen(...paused, sessionEvent(type), sessionEvent('RunResumed', later)).shows({
      status: 'running',
      open: true,
      decided: undefined,
      started_at: at,
      waited_until: later,
    })
  }
  seen(...runningSession, sessionEvent('RunPaused', later)).shows({
    status: 'awaiting_approval',
    open: undefined,
    ended_at: null,
    prompt_tokens: 120,
    completion_tokens: 35,
    charge: 650,
  })
  seen(...runningSession, sessionEvent('RunLimitReached'), sessionEvent('RunFailed')).shows({
    status: 'failed',
    limit_reached: { limit: 'steps', used: 5, allowed: 5, set_by: 'agent' },
  })
  seen(sessionEvent('RunCompleted')).showsNothing()
})

t.test('analysts see who, what, how long and for how much, and nothing internal', async (t) => {
  const view: RunView = {
    run_id: 'run-1',
    session_id: 'session-1',
    message_id: 'message-1',
    organization_id: 'org-1',
    key_id: 'key-1',
    payer_id: 'user-1',
    user_id: 'user-2',
    agent_id: 'agent-1',
    agent: 'Librarian',
    model: 'openai/gpt',
    node: 'node-1',
    attempt: 2,
    revision: 4,
    status: 'completed',
    open: true,
    waits: 'in_doubt',
    decided: true,
    fingerprint: 'bqk2c4Yw',
    started_at: at,
    waited_until: '2026-01-01T23:00:00.000Z',
    ended_at: later,
    error_code: null,
    limit_reached: { limit: 'credits', used: 2_000_000, allowed: 1_500_000, set_by: 'agent' },
    finish_reason: 'stop',
    tool_calls: [],
    answer_id: 'message-2',
    prompt_tokens: 120,
    completion_tokens: 35,
    charge: 650,
  }
  const { node: _, revision: __, open: ___, waits: ____, decided: _____, ...more } = view
  const { fingerprint: ______, ...seen } = more
  const limit_reached = { limit: 'credits', used: 2, allowed: 1.5, set_by: 'agent' }
  t.strictSame(runs.shown?.document?.(view), {
    ...seen,
    limit_reached,
    charge: 0.00065,
    duration_ms: 3_600_000,
  })
  const { user_id: _1, model: _2, limit_reached: _3, waited_until: _4, ...old } = view
  t.match(runs.shown?.document?.({ ...old, ended_at: null }), {
    user_id: null,
    model: null,
    duration_ms: null,
  })
})

t.test('a run of an erased session keeps its numbers, without the names of calls', async (t) => {
  const erased = sessionEvent('SessionErased', later)
  const completed = sessionEvent('RunCompleted', later)
  const seen = projecting(t, runs, sessionStream)
  const { promptTokens: prompt_tokens, charge } = completed.data
  const numbers = { run_id: 'run-1', status: 'completed' as const, charge, prompt_tokens }
  const calls = { ...completed, data: { ...completed.data, toolCalls: [{ id: 'c', name: 'n' }] } }
  seen(...runningSession, calls).shows({ tool_calls: [{ id: 'c', name: 'n' }] })
  seen(...runningSession, calls, erased).shows({ ...numbers, tool_calls: [], erased: true })
})

t.test('a run that was open when its session was erased is not taken up again', async (t) => {
  const erased = sessionEvent('SessionErased', later)
  const paused = sessionEvent('RunPaused', later)
  for (const events of [[], [paused]])
    projecting(t, runs, sessionStream)(...runningSession, ...events, erased).shows({
      erased: true,
      open: undefined,
      waits: undefined,
      decided: undefined,
    } as object)
})

t.test('every event it handles was given', async (t) => handlesAll(t, runs))

for (const [limit, used, allowed, answerUsed, answerAllowed] of [
  ['credits', 2_000_000, 1_500_000, 2, 1.5],
  ['steps', 5, 5, 5, 5],
  ['tokens', 1_000_001, 1_000_000, 1_000_001, 1_000_000],
] as const)
  t.test(`of a run that reached its limit of ${limit}, both amounts are shown`, async (t) => {
    const reached = sessionEvent('RunLimitReached', at, { limit, used, allowed })
    const view = viewAfter(runs, sessionStream, ...runningSession, reached)
    const run = await view.get('run-1')
    if (!run) throw new Error('there is no run')
    t.match(runs.shown?.document?.(run), {
      limit_reached: { limit, used: answerUsed, allowed: answerAllowed, set_by: 'agent' },
    })
  })
