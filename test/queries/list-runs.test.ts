import t from 'tap'
import { type RunSort, runSorts } from '../../projections/run-summaries.ts'
import { listRuns, type RunsQuery } from '../../queries/list-runs.ts'
import { runSummariesOf, runSummaryAt } from '../support/run-summaries.ts'

type Options = Partial<RunsQuery>

const listing = (runs: Parameters<typeof runSummariesOf>[0]) => {
  const { view, reads } = runSummariesOf(runs)
  const list = listRuns({ runSummaries: view })
  const page = (options: Options = {}) =>
    list({ organizationId: 'org-1', sort: 'started_at', limit: 100, ...options })
  /** The ids of every page. */
  const pages = async (options: Options): Promise<string[][]> => {
    const ids: string[][] = []
    for (let after: string | undefined; ; ) {
      const { runs, next } = await page({ ...options, ...(after === undefined ? {} : { after }) })
      ids.push(runs.map(({ run_id }) => run_id))
      if (next === null) return ids
      after = next
    }
  }
  return { page, pages, reads }
}

const times = <Item>(count: number, make: (n: number) => Item): Item[] =>
  Array.from({ length: count }, (_, n) => make(n))

const idsOf = (...numbers: number[]) => numbers.map((n) => runSummaryAt(n).run_id)

t.test('each sort lists all runs once, in its order, across pages', async (t) => {
  const runs = times(40, (n) =>
    runSummaryAt(n, {
      duration_ms: n % 5 === 0 ? null : (n * 7) % 40,
      charge: (n * 11) % 40,
      prompt_tokens: (n * 13) % 40,
    }),
  )
  const { pages } = listing(runs)
  const values: Record<RunSort, (run: (typeof runs)[number]) => number | string> = {
    started_at: ({ started_at }) => started_at,
    duration_ms: ({ duration_ms }) => duration_ms ?? -1,
    charge: ({ charge }) => charge,
    tokens: ({ prompt_tokens, completion_tokens }) => prompt_tokens + completion_tokens,
  }
  for (const sort of runSorts) {
    const value = values[sort]
    const expected = runs
      .toSorted(
        (a, b) =>
          (value(a) < value(b) ? 1 : value(a) > value(b) ? -1 : 0) ||
          (a.run_id < b.run_id ? 1 : -1),
      )
      .map(({ run_id }) => run_id)
    for (const limit of [1, 7, 40, 100])
      t.strictSame((await pages({ sort, limit })).flat(), expected, `${sort} by ${limit}`)
  }
})

t.test('runs with equal values are listed by id, each once', async (t) => {
  const { pages } = listing(times(9, (n) => runSummaryAt(n, { charge: 5 })))
  t.strictSame(await pages({ sort: 'charge', limit: 4 }), [
    idsOf(8, 7, 6, 5),
    idsOf(4, 3, 2, 1),
    idsOf(0),
  ])
  t.strictSame(await pages({ sort: 'charge', limit: 9 }), [idsOf(8, 7, 6, 5, 4, 3, 2, 1, 0)])
})

t.test('each filter leaves the runs that have its value, in every sort', async (t) => {
  const { page } = listing([
    runSummaryAt(1),
    runSummaryAt(2, { status: 'failed' }),
    runSummaryAt(3, { agent_id: 'agent-2' }),
    runSummaryAt(4, { user_id: 'user-2' }),
    runSummaryAt(5, { session_id: 'session-2' }),
    runSummaryAt(6, { models: ['m/a', 'm/b'] }),
    runSummaryAt(7, { user_id: null }),
  ])
  const filters: [Options, number][] = [
    [{ status: 'failed' }, 2],
    [{ agentId: 'agent-2' }, 3],
    [{ userId: 'user-2' }, 4],
    [{ sessionId: 'session-2' }, 5],
    [{ model: 'm/b' }, 6],
    [{ from: Date.UTC(2026, 0, 1, 0, 0, 2), to: Date.UTC(2026, 0, 1, 0, 0, 3) }, 2],
    [{ from: Date.UTC(2026, 0, 1, 0, 0, 7) }, 7],
    [{ to: Date.UTC(2026, 0, 1, 0, 0, 2) }, 1],
    [{ userId: 'user-1', status: 'failed', model: 'm/a', sessionId: 'session-1' }, 2],
  ]
  for (const sort of runSorts)
    for (const [filter, n] of filters) {
      const { runs, next } = await page({ ...filter, sort })
      t.strictSame(
        [runs.map(({ run_id }) => run_id), next],
        [idsOf(n), null],
        JSON.stringify(filter),
      )
    }
  t.strictSame(await page({ status: 'failed', agentId: 'agent-2' }), { runs: [], next: null })
})

t.test('an organization has only its own runs', async (t) => {
  const { page } = listing([runSummaryAt(1), runSummaryAt(2, { organization_id: 'org-2' })])
  for (const sort of runSorts)
    for (const filter of [{}, { status: 'completed' as const }, { sessionId: 'session-1' }]) {
      const { runs } = await page({ sort, ...filter })
      t.strictSame(
        runs.map(({ run_id }) => run_id),
        idsOf(1),
      )
      t.strictSame((await page({ sort, ...filter, organizationId: 'org-3' })).runs, [])
    }
})

t.test('a page reads at most 250 runs beyond its limit without a filter', async (t) => {
  const { page, reads } = listing(times(2_000, (n) => runSummaryAt(n, { charge: n % 3 })))
  for (const sort of runSorts) {
    await page({ sort, limit: 100 })
    t.equal(reads().documents, 250, sort)
    await page({ sort, limit: 500 })
    t.equal(reads().documents, 750, sort)
  }
})

t.test('few runs of a filter are found at once, in whatever sort', async (t) => {
  const { page, pages, reads } = listing(
    times(2_500, (n) => runSummaryAt(n, { charge: n, status: n < 9 ? 'failed' : 'completed' })),
  )
  t.strictSame((await page({ status: 'failed' })).runs.length, 9)
  t.equal(reads().documents, 9)
  t.strictSame(await pages({ status: 'failed', sort: 'charge', limit: 5 }), [
    idsOf(8, 7, 6, 5, 4),
    idsOf(3, 2, 1, 0),
  ])
  t.equal(reads().documents, 18)
})

t.test(
  'the few of many runs that pass a filter are found page by page, each with bounded reads',
  async (t) => {
    const runs = times(5_500, (n) =>
      runSummaryAt(n, { charge: n, models: n < 2 ? ['m/rare'] : ['m/a'] }),
    )
    const { pages, reads } = listing(runs)
    for (const sort of ['started_at', 'charge'] as const) {
      reads()
      const ids = await pages({ sort, model: 'm/rare', limit: 10 })
      t.strictSame(ids, [[], idsOf(1, 0)], sort)
      t.equal(reads().documents, 5_500, 'each run is read once')
    }
    const many = await pages({ sort: 'charge', status: 'completed', model: 'm/rare', limit: 10 })
    t.strictSame(many.flat(), idsOf(1, 0))
    t.equal(reads().documents, 5_500 + many.length * 1_001, 'they were tried to be sorted')
  },
)
