import t from 'tap'
import { type RunStepView, runSteps } from '../../projections/run-steps.ts'
import { getRun } from '../../queries/get-run.ts'
import type { View } from '../../src/ports/views.ts'
import { countedView } from '../support/counted-view.ts'
import { runSummariesOf, runSummaryAt } from '../support/run-summaries.ts'
import { model } from '../support/views-model.ts'

const at = (second: number) => new Date(Date.UTC(2026, 0) + 1_000 * second).toISOString()

const stepAt = (revision: number, change: Partial<RunStepView> = {}): RunStepView => ({
  organization_id: 'org-1',
  run_id: 'run-00001',
  revision,
  step_id: `0/${revision}`,
  parent_id: '0',
  kind: 'model',
  name: 'm/a',
  agent_name: 'Orchestrator',
  started_at: at(revision),
  duration_ms: 1,
  status: 'completed',
  tokens: 2,
  charge: 3_000_000,
  ...change,
})

const stepsOf = (steps: readonly RunStepView[]) => {
  const { commit, find } = model(runSteps)
  commit(steps.map((document) => ({ id: `${document.run_id}:${document.step_id}`, document })))
  const view: View<RunStepView> = {
    get: async () => undefined,
    find: async (query) => ({ ...find(query), items: find(query).items as RunStepView[] }),
    async *all() {},
  }
  return countedView(view)
}

const opening = (
  steps: readonly RunStepView[],
  change: Parameters<typeof runSummaryAt>[1] = {},
) => {
  const counted = stepsOf(steps)
  const { view } = runSummariesOf([runSummaryAt(1, change)])
  const get = getRun({ runSummaries: view, runSteps: counted.view })
  const open = (after = -1, limit = 100) =>
    get({ organizationId: 'org-1', runId: 'run-00001', after, limit })
  return { get, open, reads: counted.reads }
}

t.test('a run has its fields and its steps in order', async (t) => {
  const { open } = opening([stepAt(5), stepAt(3, { kind: 'tool', tokens: null, charge: null })])
  const { steps, ...run } = await open()
  t.match(run, { run_id: 'run-00001', status: 'completed', next_after: null })
  t.match(steps, [
    { step_id: '0/3', kind: 'tool', tokens: null, charge: null },
    { step_id: '0/5', kind: 'model', tokens: 2, charge: 3 },
  ])
})

t.test('a run of 2,000 steps is read page by page, and each step once', async (t) => {
  const { open, reads } = opening(Array.from({ length: 2_000 }, (_, n) => stepAt(n * 3)))
  const ids: string[] = []
  const counts: number[] = []
  for (let after: number | null = -1; after !== null; ) {
    const page: Awaited<ReturnType<typeof open>> = await open(after, 500)
    ids.push(...page.steps.map(({ step_id }) => step_id))
    counts.push(reads().documents)
    after = page.next_after
  }
  t.strictSame(
    ids,
    Array.from({ length: 2_000 }, (_, n) => `0/${n * 3}`),
  )
  t.strictSame(counts, [501, 501, 501, 500])
})

t.test('attempts are steps at their places', async (t) => {
  const attempt = (number: number, revision: number, change: object = {}) => ({
    attempt: number,
    revision,
    started_at: at(revision),
    ended_at: at(revision + 1),
    status: 'paused' as const,
    ...change,
  })
  const latest_attempts = [
    attempt(1, 0),
    attempt(2, 4, { ended_at: null, status: 'interrupted' }),
    attempt(3, 9, { ended_at: null, status: 'running' }),
  ]
  const { open } = opening([stepAt(2), stepAt(6), stepAt(8)], { latest_attempts, ended_at: null })
  const all = await open()
  t.strictSame(
    all.steps.map(({ step_id }) => step_id),
    ['attempt-1', '0/2', 'attempt-2', '0/6', '0/8', 'attempt-3'],
  )
  t.match(all.steps[0], {
    parent_id: null,
    kind: 'attempt',
    name: 'Attempt 1',
    duration_ms: 1_000,
    status: 'paused',
    tokens: null,
  })
  t.match(all.steps[2], { duration_ms: null, status: 'interrupted' })
  for (const limit of [1, 2, 3, 6]) {
    const ids: string[] = []
    for (let after: number | null = -1; after !== null; ) {
      const page: Awaited<ReturnType<typeof open>> = await open(after, limit)
      t.ok(page.steps.length <= limit)
      ids.push(...page.steps.map(({ step_id }) => step_id))
      after = page.next_after
    }
    t.strictSame(
      ids,
      all.steps.map(({ step_id }) => step_id),
    )
  }
})

t.test('a step that was open when its run ended has ended with it', async (t) => {
  const steps = [
    stepAt(1, { status: 'running', duration_ms: null }),
    stepAt(2, { kind: 'approval', status: 'pending', duration_ms: null }),
  ]
  const cancelled = opening(steps, { status: 'cancelled', ended_at: at(4) })
  t.match((await cancelled.open()).steps, [
    { status: 'cancelled', duration_ms: 3_000 },
    { status: 'pending', duration_ms: null },
  ])
  for (const status of ['running', 'awaiting_approval', 'in_doubt'] as const) {
    const open = opening(steps, { status, ended_at: null })
    t.match((await open.open()).steps, [{ status: 'running', duration_ms: null }, {}])
  }
})

t.test('an unknown run is refused, and so is one of another organization', async (t) => {
  const { get } = opening([stepAt(1)])
  const page = { after: -1, limit: 10 }
  for (const [organizationId, runId] of [
    ['org-1', 'run-2'],
    ['org-2', 'run-00001'],
  ] as const)
    await t.rejects(get({ ...page, organizationId, runId }), { code: 'run_not_found' })
})
