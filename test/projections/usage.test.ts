import { createHash } from 'node:crypto'
import t from 'tap'
import { withDuration } from '../../projections/durations.ts'
import { usage } from '../../projections/usage.ts'
import { handlesAll, projecting } from '../support/given.ts'
import { runningSession, sessionEvent, sessionStream } from '../support/session-events.ts'

const morning = '2026-01-01T00:00:00.000Z'
const evening = '2026-01-01T23:59:59.999Z'
const nextDay = '2026-01-02T00:00:00.000Z'

t.test(
  'usage is counted by the day of the end, the agent, the user, the key and the model',
  async (t) => {
    const seen = projecting(t, usage, sessionStream)
    const completed = (at: string, durationMs: number) =>
      sessionEvent('RunCompleted', at, { agentId: 'agent-1', durationMs })
    const id = 'org-1/2026-01-01/agent-1/user-1/key-1/openai/gpt-4o'
    seen(...runningSession).showsNothing()
    seen(completed(morning, 900), completed(evening, 20), completed(nextDay, 5)).shows(
      {
        organization_id: 'org-1',
        day: '2026-01-01',
        agent_id: 'agent-1',
        user_id: 'user-1',
        key_id: 'key-1',
        model: 'openai/gpt-4o',
        runs: 2,
        completed: 2,
        failed: 0,
        prompt_tokens: 240,
        completion_tokens: 70,
        charge: 1_300,
        durations: [900, 20].reduce(withDuration, {}),
      },
      id,
    )
    seen(completed(morning, 900), completed(nextDay, 5)).shows(
      { day: '2026-01-02', runs: 1 },
      id.replace('01-01', '01-02'),
    )
  },
)

t.test('a run that did not complete is counted without its duration', async (t) => {
  const seen = projecting(t, usage, sessionStream)
  const none = { completed: 0, failed: 0, cancelled: 0, timed_out: 0 }
  const endCounts = {
    RunFailed: { ...none, failed: 2 },
    RunCancelled: { ...none, cancelled: 2 },
    RunTimedOut: { ...none, timed_out: 2 },
  }
  for (const type of ['RunFailed', 'RunCancelled', 'RunTimedOut'] as const) {
    seen(sessionEvent(type), sessionEvent(type)).shows(
      { ...endCounts[type], agent_id: null, runs: 2, prompt_tokens: 240, durations: {} },
      'org-1/2026-01-01/-/user-1/key-1/-',
    )
  }
})

t.test('a run of several models is counted once, its tokens and charge with each', async (t) => {
  const seen = projecting(t, usage, sessionStream)
  const use = (model: string, charge: number) => ({
    model,
    promptTokens: 100 * charge,
    completionTokens: charge,
    charge,
  })
  const models = [use('m/a', 3), use('m/b', 4)]
  for (const type of ['RunCompleted', 'RunFailed'] as const) {
    const view = seen(sessionEvent(type, morning, { models, agentId: 'agent-1' }))
    const id = 'org-1/2026-01-01/agent-1/user-1/key-1'
    view.shows({ model: 'm/a', runs: 1, prompt_tokens: 300, charge: 3 }, `${id}/m/a`)
    view.shows(
      {
        model: 'm/b',
        runs: 0,
        completed: 0,
        failed: 0,
        prompt_tokens: 400,
        charge: 4,
        durations: {},
      },
      `${id}/m/b`,
    )
  }
})

t.test('a name of a model that no store takes in an id is hashed there', async (t) => {
  const seen = projecting(t, usage, sessionStream)
  for (const model of [`m/${'x'.repeat(2_000)}`, 'm/\u0001', 'm/größe'])
    seen(sessionEvent('RunCompleted', morning, { model })).shows(
      { model, runs: 1 },
      `org-1/2026-01-01/-/user-1/key-1/${createHash('sha256').update(model).digest('hex')}`,
    )
})

t.test('usage stays within exact numbers', async (t) => {
  const seen = projecting(t, usage, sessionStream)
  const most = Number.MAX_SAFE_INTEGER
  const all = { promptTokens: most, completionTokens: most, charge: most }
  const end = sessionEvent('RunCompleted', morning, all)
  seen(end, end).shows({ runs: 2, prompt_tokens: most, completion_tokens: most, charge: most })
})

t.test('usage stays when its session is erased', async (t) => {
  const seen = projecting(t, usage, sessionStream)
  seen(...runningSession, sessionEvent('RunCompleted'), sessionEvent('SessionErased')).shows({
    runs: 1,
  })
})

t.test('it is shown with what is worked out of it', async (t) => {
  const answer = usage.shown?.document?.({
    organization_id: 'org-1',
    day: '2026-01-01',
    agent_id: null,
    user_id: null,
    key_id: null,
    model: null,
    runs: 1,
    completed: 1,
    failed: 0,
    cancelled: 0,
    timed_out: 0,
    prompt_tokens: 1,
    completion_tokens: 1,
    charge: 1_500_000,
    durations: withDuration({}, 1),
  })
  t.match(answer, { charge: 1.5, credits: 1.5, duration_p50_ms: 1, duration_p95_ms: 1 })
  t.ok(usage.shown?.schema.safeParse(answer).success)
})

t.test('every event it handles was given', async (t) => handlesAll(t, usage))
