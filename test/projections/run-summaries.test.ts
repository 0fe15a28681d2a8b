import t from 'tap'
import { runSummaries, runSummary, runSummaryOf } from '../../projections/run-summaries.ts'
import { handlesAll, projecting } from '../support/given.ts'
import { runningSession, sessionEvent, sessionStream } from '../support/session-events.ts'
import { viewAfter } from '../support/view-after.ts'

const start = '2026-01-01T00:00:00.000Z'
const middle = '2026-01-01T00:00:02.000Z'
const end = '2026-01-01T00:00:05.000Z'

t.test('a run is summed up from its start to its end', async (t) => {
  const seen = projecting(t, runSummaries, sessionStream)
  seen(...runningSession).shows({
    run_id: 'run-1',
    session_id: 'session-1',
    organization_id: 'org-1',
    user_id: 'user-1',
    agent_id: 'agent-1',
    agent_name: 'Orchestrator',
    models: [],
    status: 'running',
    code: null,
    started_at: start,
    ended_at: null,
    duration_ms: null,
    time_to_first_token_ms: null,
    prompt_tokens: 0,
    charge: 0,
    attempts: 1,
    order: {
      started_at: `${start}/run-1`,
      duration_ms: '-/run-1',
      charge: '0000000000000000/run-1',
      tokens: '0000000000000000/run-1',
    },
  })
  const agent = sessionEvent('AgentCompleted', middle)
  const message = sessionEvent('AssistantMessageRecorded', end)
  const completed = sessionEvent('RunCompleted', end, { firstTokenMs: 120.4, agentId: 'agent-2' })
  seen(...runningSession, agent, message, completed).shows({
    agent_id: 'agent-2',
    agent_name: 'Librarian',
    models: ['openai/gpt-4o'],
    status: 'completed',
    ended_at: end,
    duration_ms: 5_000,
    time_to_first_token_ms: 120,
    prompt_tokens: 120,
    completion_tokens: 35,
    charge: 650,
    order: {
      started_at: `${start}/run-1`,
      duration_ms: '0000000000005000/run-1',
      charge: '0000000000000650/run-1',
      tokens: '0000000000000155/run-1',
    },
  })
})

t.test('a run of a draft says so', async (t) => {
  const seen = projecting(t, runSummaries, sessionStream)
  seen(...runningSession).shows({ draft: undefined })
  seen(sessionEvent('RunStarted', start, { draft: true })).shows({ draft: true })
})

t.test('a run that ends otherwise says how, and what failed it', async (t) => {
  const seen = projecting(t, runSummaries, sessionStream)
  const models = [{ model: 'm/a', promptTokens: 120, completionTokens: 35, charge: 650 }]
  seen(...runningSession, sessionEvent('RunFailed', end, { models })).shows({
    status: 'failed',
    code: 'llm_service_unavailable',
    models: ['m/a'],
  })
  seen(...runningSession, sessionEvent('RunCancelled', end)).shows({
    status: 'cancelled',
    code: null,
  })
  seen(...runningSession, sessionEvent('RunTimedOut', end)).shows({ status: 'timed_out' })
})

t.test('answers count before the run ends, which has the last word', async (t) => {
  const seen = projecting(t, runSummaries, sessionStream)
  const answers = [
    sessionEvent('ModelAnswered', middle),
    sessionEvent('ModelAnswered', middle, { at: '0/2', model: 'm/b' }),
  ]
  seen(...runningSession, ...answers).shows({
    models: ['openai/gpt-5', 'm/b'],
    prompt_tokens: 240,
    completion_tokens: 36,
    charge: 960,
    duration_ms: null,
  })
  seen(...runningSession, ...answers, sessionEvent('RunCompleted', end)).shows({ charge: 650 })
})

t.test('each attempt has its times, and how it ended', async (t) => {
  const seen = projecting(t, runSummaries, sessionStream)
  const resumed = (attempt: number, at: string) => sessionEvent('RunResumed', at, { attempt })
  seen(
    ...runningSession,
    sessionEvent('RunHandedOver', middle),
    resumed(2, middle),
    resumed(3, middle),
    sessionEvent('RunPaused', middle, { firstTokenMs: 7 }),
    resumed(4, end),
    sessionEvent('RunCompleted', end, { firstTokenMs: 900 }),
  ).shows({
    attempts: 4,
    waited_until: end,
    duration_ms: 0,
    time_to_first_token_ms: 7,
    latest_attempts: [
      { attempt: 1, revision: 2, started_at: start, ended_at: middle, status: 'handed_over' },
      { attempt: 2, revision: 4, started_at: middle, ended_at: null, status: 'interrupted' },
      { attempt: 3, revision: 5, started_at: middle, ended_at: middle, status: 'paused' },
      { attempt: 4, revision: 7, started_at: end, ended_at: end, status: 'completed' },
    ],
  })
  seen(...runningSession, sessionEvent('RunPaused'), sessionEvent('RunCancelled', end)).shows({
    status: 'cancelled',
    latest_attempts: [
      { attempt: 1, revision: 2, started_at: start, ended_at: start, status: 'paused' },
    ],
  })
  const many = Array.from({ length: 80 }, (_, n) => resumed(n + 2, middle))
  const view = viewAfter(runSummaries, sessionStream, ...runningSession, ...many)
  t.match(await view.get('run-1'), { attempts: 81, latest_attempts: { length: 50 } })
})

t.test('a queued run has no attempt until a process takes it', async (t) => {
  const seen = projecting(t, runSummaries, sessionStream)
  const queued = [
    ...runningSession.slice(0, -1),
    sessionEvent('RunStarted', start, { queued: true }),
  ]
  seen(...queued).shows({ status: 'queued', attempts: 0, latest_attempts: [] })
  seen(...queued, sessionEvent('RunDequeued', middle), sessionEvent('RunCompleted', end)).shows({
    attempts: 1,
    duration_ms: 3_000,
    latest_attempts: [
      { attempt: 1, revision: 3, started_at: middle, ended_at: end, status: 'completed' },
    ],
  })
})

t.test(
  'numbers stay when the session is erased, and are shown without internal fields',
  async (t) => {
    const erased = [
      ...runningSession,
      sessionEvent('RunCompleted', end),
      sessionEvent('SessionErased'),
    ]
    const view = await viewAfter(runSummaries, sessionStream, ...erased).get('run-1')
    t.match(view, { status: 'completed', charge: 650 })
    const answer = view && runSummaryOf(view)
    t.strictSame(answer, runSummary.strict().parse(answer))
    t.match(answer, { charge: 0.00065 })
  },
)

t.test('every event it handles was given', async (t) => handlesAll(t, runSummaries))
