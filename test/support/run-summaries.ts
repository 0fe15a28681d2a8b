import { type RunSummaryView, runSummaries } from '../../projections/run-summaries.ts'
import type { View } from '../../src/ports/views.ts'
import { countedView } from './counted-view.ts'
import { model } from './views-model.ts'

const sortable = (value: number | null) => (value === null ? '-' : String(value).padStart(16, '0'))

/** The `n`th run of an organization, begun in the `n`th second of 2026. */
export const runSummaryAt = (
  n: number,
  change: Partial<Omit<RunSummaryView, 'order'>> = {},
): RunSummaryView => {
  const view = {
    run_id: `run-${String(n).padStart(5, '0')}`,
    session_id: 'session-1',
    organization_id: 'org-1',
    user_id: 'user-1',
    agent_id: 'agent-1',
    agent_name: 'Orchestrator',
    models: ['m/a'],
    status: 'completed' as const,
    code: null,
    started_at: new Date(Date.UTC(2026, 0) + 1_000 * n).toISOString(),
    ended_at: null,
    duration_ms: 5,
    time_to_first_token_ms: null,
    prompt_tokens: 1,
    completion_tokens: 1,
    charge: 0,
    attempts: 1,
    latest_attempts: [],
    ...change,
  }
  const { run_id, started_at, duration_ms, charge, prompt_tokens, completion_tokens } = view
  return {
    ...view,
    order: {
      started_at: `${started_at}/${run_id}`,
      duration_ms: `${sortable(duration_ms)}/${run_id}`,
      charge: `${sortable(charge)}/${run_id}`,
      tokens: `${sortable(prompt_tokens + completion_tokens)}/${run_id}`,
    },
  }
}

/** A read model of these runs, in memory, which counts the documents that are read. */
export const runSummariesOf = (runs: readonly RunSummaryView[]) => {
  const { commit, find } = model(runSummaries)
  commit(runs.map((document) => ({ id: document.run_id, document })))
  const byId = new Map(runs.map((run) => [run.run_id, run]))
  const view: View<RunSummaryView> = {
    get: async (id) => byId.get(id),
    find: async (query) => {
      const { items, total } = find(query)
      return { items: items as RunSummaryView[], total }
    },
    async *all() {},
  }
  return countedView(view)
}
