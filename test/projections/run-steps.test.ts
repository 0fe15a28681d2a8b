import t from 'tap'
import { type RunStepView, runStep, runStepOf, runSteps } from '../../projections/run-steps.ts'
import { handlesAll, projecting } from '../support/given.ts'
import { runningSession, sessionEvent, sessionStream } from '../support/session-events.ts'

const start = '2026-01-01T00:00:00.000Z'
const end = '2026-01-01T00:00:05.000Z'

const agentStarted = sessionEvent('AgentStarted', start, { at: '0' })

t.test('an agent is a step from its start to its end', async (t) => {
  const seen = projecting(t, runSteps, sessionStream)
  seen(...runningSession, agentStarted).shows({
    organization_id: 'org-1',
    run_id: 'run-1',
    revision: 3,
    step_id: '0',
    parent_id: null,
    kind: 'agent',
    name: 'Orchestrator',
    agent_name: 'Orchestrator',
    started_at: start,
    duration_ms: null,
    status: 'running',
    tokens: null,
    charge: null,
  })
  const completed = { at: '0', model: null, error: undefined, charge: 7 }
  seen(agentStarted, sessionEvent('AgentCompleted', end, completed)).shows({
    status: 'completed',
    started_at: start,
    duration_ms: 812,
    tokens: 155,
    charge: 7,
  })
  const atOnce = [
    sessionEvent('AgentStarted', end, { at: '0' }),
    sessionEvent('AgentCompleted', end, completed),
  ]
  seen(...atOnce).shows({ started_at: '2026-01-01T00:00:04.188Z', duration_ms: 812 })
  seen(agentStarted, sessionEvent('AgentCompleted', end, { at: '0', model: null })).shows({
    status: 'failed',
    charge: null,
  })
  seen(sessionEvent('AgentStarted', start, { at: '0.1.t' })).shows({ parent_id: '0.1' })
})

t.test(
  'the only answer of a run is a step of its agent, without an event of its own',
  async (t) => {
    const seen = projecting(t, runSteps, sessionStream)
    const completed = sessionEvent('AgentCompleted', end, {
      at: '0.1',
      durationMs: 1_500,
      charge: 9,
    })
    const view = seen(sessionEvent('AgentStarted', start, { at: '0.1' }), completed)
    view.shows({ kind: 'agent', status: 'failed' }, 'run-1:0.1')
    view.shows(
      {
        step_id: '0.1/1',
        parent_id: '0.1',
        kind: 'model',
        name: 'openai/gpt-4o',
        started_at: '2026-01-01T00:00:03.500Z',
        duration_ms: 1_500,
        status: 'completed',
        tokens: 155,
        charge: 9,
      },
      'run-1:0.1:1',
    )
    const answer = sessionEvent('ModelAnswered', end, { at: '0.1/1', durationMs: 4_000 })
    seen(answer, completed).shows(
      { name: 'openai/gpt-5', started_at: '2026-01-01T00:00:01.000Z', duration_ms: 4_000 },
      'run-1:0.1:1',
    )
  },
)

t.test('an answer has its model, tokens and charge', async (t) => {
  const seen = projecting(t, runSteps, sessionStream)
  seen(sessionEvent('ModelAnswered', end)).shows({
    step_id: '0/1',
    parent_id: '0',
    kind: 'model',
    name: 'openai/gpt-5',
    agent_name: 'Librarian',
    started_at: end,
    duration_ms: null,
    status: 'completed',
    tokens: 138,
    charge: 480,
  })
  const long = sessionEvent('ModelAnswered', end, { durationMs: Number.MAX_VALUE })
  seen(long).shows({ started_at: end }, 'run-1:0:1')
})

t.test('a call of a model that failed is a step of its agent, with its code', async (t) => {
  const seen = projecting(t, runSteps, sessionStream)
  const failedCall = {
    at: '0/2',
    model: 'test/model',
    durationMs: 1_500,
    code: 'llm_service_timeout',
  }
  const failed = { at: '0', model: 'test/model', failedCall }
  const answer = sessionEvent('ModelAnswered', start, { at: '0/1' })
  const view = seen(agentStarted, answer, sessionEvent('AgentCompleted', end, failed))
  view.shows({ kind: 'agent', status: 'failed' }, 'run-1:0')
  view.shows({ kind: 'model', status: 'completed', tokens: 138 }, 'run-1:0:1')
  view.shows(
    {
      step_id: '0/2',
      parent_id: '0',
      kind: 'model',
      name: 'test/model',
      agent_name: 'Orchestrator',
      started_at: '2026-01-01T00:00:03.500Z',
      duration_ms: 1_500,
      status: 'failed',
      tokens: null,
      charge: null,
      code: 'llm_service_timeout',
    },
    'run-1:0:2',
  )
  const first = { at: '0', model: null, failedCall: { ...failedCall, at: '0/1' } }
  seen(agentStarted, sessionEvent('AgentCompleted', end, first)).shows(
    { kind: 'model', status: 'failed' },
    'run-1:0:1',
  )
})

t.test('a call of a tool is a step, called again or not', async (t) => {
  const seen = projecting(t, runSteps, sessionStream)
  const started = sessionEvent('ToolStarted', start, { at: '0/1/0' })
  const completed = (outcome?: 'ok' | 'failed' | 'unknown', ok = true) =>
    sessionEvent('ToolCompleted', end, { at: '0/1/0', ok, outcome })
  seen(started).shows({
    step_id: '0/1/0',
    parent_id: '0',
    kind: 'tool',
    name: 'search_knowledge',
    agent_name: 'Librarian',
    status: 'running',
  })
  seen(started, completed()).shows({ status: 'completed', duration_ms: 5_000 })
  seen(started, completed(undefined, false)).shows({ status: 'failed' })
  seen(completed('ok')).shows({ status: 'completed', started_at: end })
  const report = (outcome: 'done' | 'not_done') =>
    sessionEvent('ToolOutcomeTold', end, { at: '0/1/0', outcome })
  seen(started, completed('unknown'), report('done')).shows({ status: 'completed' })
  seen(started, completed('unknown'), report('not_done')).shows({ status: 'failed' })
  const again = sessionEvent('ToolStarted', end, { at: '0/1/0' })
  seen(started, completed('unknown'), again).shows({ status: 'running', started_at: end })
  seen(report('done')).showsNothing()
})

t.test('an approval is a step until it is decided', async (t) => {
  const seen = projecting(t, runSteps, sessionStream)
  const requested = sessionEvent('ApprovalRequested', start)
  seen(requested).shows({
    step_id: 'approval-1',
    parent_id: '0',
    kind: 'approval',
    name: 'refund',
    status: 'pending',
    duration_ms: null,
  })
  const statuses = {
    ApprovalDecided: 'approved',
    ApprovalExpired: 'expired',
    ApprovalWithdrawn: 'withdrawn',
  } as const
  for (const type of ['ApprovalDecided', 'ApprovalExpired', 'ApprovalWithdrawn'] as const)
    seen(requested, sessionEvent(type, end)).shows({ status: statuses[type], duration_ms: 5_000 })
  const denied = sessionEvent('ApprovalDecided', end, { decision: 'deny' })
  seen(requested, denied).shows({ status: 'denied' })
})

t.test('steps stored without their places are left out', async (t) => {
  const seen = projecting(t, runSteps, sessionStream)
  const types = ['AgentStarted', 'AgentCompleted', 'ToolStarted', 'ToolCompleted'] as const
  seen(...types.map((type) => sessionEvent(type))).showsNothing()
})

t.test(
  'steps stay when the session is erased, and are shown without internal fields',
  async (t) => {
    const seen = projecting(t, runSteps, sessionStream)
    seen(agentStarted, sessionEvent('SessionErased')).shows({ step_id: '0' })
    const view: RunStepView = {
      organization_id: 'org-1',
      run_id: 'run-1',
      revision: 3,
      step_id: '0/1',
      parent_id: '0',
      kind: 'model',
      name: 'm/a',
      agent_name: 'Librarian',
      started_at: start,
      duration_ms: 3,
      status: 'completed',
      tokens: 5,
      charge: 1_500_000,
    }
    const step = runStepOf(view)
    t.strictSame(step, runStep.strict().parse(step))
    t.equal(step.charge, 1.5)
    t.equal(runStepOf({ ...view, charge: null }).charge, null)
  },
)

t.test('every event it handles was given', async (t) => handlesAll(t, runSteps))
