import t from 'tap'
import { usage } from '../../projections/usage.ts'
import { getUsage } from '../../queries/get-usage.ts'
import { sessionEvent, sessionStream } from '../support/session-events.ts'
import { viewAfter } from '../support/view-after.ts'

const runCompleted = (day: number, agentId: string, durationMs: number) =>
  sessionEvent('RunCompleted', `2026-01-0${day}T12:00:00.000Z`, { agentId, durationMs })

const get = getUsage({
  usage: viewAfter(
    usage,
    sessionStream,
    runCompleted(1, 'agent-1', 10),
    runCompleted(1, 'agent-2', 10),
    runCompleted(2, 'agent-1', 1_000),
    sessionEvent('RunFailed', '2026-01-03T12:00:00.000Z'),
  ),
})

t.test('usage in all, and by what is asked for', async (t) => {
  const { total, usage } = await get({ organizationId: 'org-1', by: ['agent_id'] })
  t.match(total, { runs: 4, completed: 3, failed: 1, prompt_tokens: 480, credits: 0.00195 })
  t.equal(total.last_day, '2026-01-03')
  t.equal((await get({ organizationId: 'org-2', by: [] })).total.last_day, null)
  t.match(usage, [
    { agent_id: 'agent-1', runs: 2, completed: 2, last_day: '2026-01-02' },
    { agent_id: 'agent-2', runs: 1, last_day: '2026-01-01' },
    { agent_id: null, runs: 1, failed: 1, duration_p50_ms: null },
  ])
  const daily = await get({ organizationId: 'org-1', by: ['day', 'agent_id'] })
  t.strictSame(Object.keys(daily.usage[0] ?? {}).slice(0, 2), ['day', 'agent_id'])
  t.equal(daily.usage.length, 4)
  t.strictSame(daily.total, total)
})

t.test('sums of usage stay within exact numbers', async (t) => {
  const most = Number.MAX_SAFE_INTEGER
  const all = { promptTokens: most, completionTokens: most, charge: most }
  const end = (agentId: string) => sessionEvent('RunFailed', undefined, { ...all, agentId })
  const query = getUsage({ usage: viewAfter(usage, sessionStream, end('agent-1'), end('agent-2')) })
  const { total } = await query({ organizationId: 'org-1', by: [] })
  t.match(total, { prompt_tokens: most, completion_tokens: most, credits: most / 1_000_000 })
})

t.test('usage by model has the tokens and charge of each, and each run once', async (t) => {
  const use = (model: string, charge: number) => ({
    model,
    promptTokens: charge,
    completionTokens: 0,
    charge,
  })
  const at = '2026-01-01T12:00:00.000Z'
  const models = [use('m/a', 2_000_000), use('m/b', 3_000_000)]
  const query = getUsage({
    usage: viewAfter(
      usage,
      sessionStream,
      sessionEvent('RunCompleted', at, { models }),
      sessionEvent('RunCompleted', at, { model: 'm/b', charge: 1_000_000 }),
      sessionEvent('RunFailed', at, { charge: 0 }),
    ),
  })
  const { usage: rows, total } = await query({ organizationId: 'org-1', by: ['model'] })
  t.match(rows, [
    { model: null, runs: 1, failed: 1, credits: 0 },
    { model: 'm/a', runs: 1, completed: 1, prompt_tokens: 2_000_000, credits: 2 },
    { model: 'm/b', runs: 1, completed: 1, credits: 4 },
  ])
  t.match(total, { runs: 3, completed: 2, credits: 6 })
})

t.test('both days of a range count', async (t) => {
  const query = { organizationId: 'org-1', by: ['day'] as const }
  const days = async (range: { from?: string; to?: string }) =>
    (await get({ ...query, ...range })).usage.map((row) => Reflect.get(row, 'day'))
  t.strictSame(await days({ from: '2026-01-01', to: '2026-01-02' }), ['2026-01-01', '2026-01-02'])
  t.strictSame(await days({ from: '2026-01-02' }), ['2026-01-02', '2026-01-03'])
  t.strictSame(await days({ to: '2026-01-01' }), ['2026-01-01'])
  t.strictSame((await get({ organizationId: 'org-2', by: ['day'] })).usage, [])
})
