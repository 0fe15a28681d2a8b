import { type RunSort, type RunSummaryView, runSummaryOf } from '../projections/run-summaries.ts'
import type { View } from '../src/ports/views.ts'
import { yieldToEventLoop } from '../src/support/yield-to-event-loop.ts'

export type RunsQuery = {
  organizationId: string
  status?: RunSummaryView['status'] | undefined
  agentId?: string | undefined
  /** One of those that answered in the run. */
  model?: string | undefined
  userId?: string | undefined
  sessionId?: string | undefined
  /** Of the start, in milliseconds since 1970: from <= start < to. */
  from?: number | undefined
  to?: number | undefined
  sort: RunSort
  /** Continue after the run with this place in the order (`next`). */
  after?: string | undefined
  limit: number
}

/** How many runs one page reads; matches may lie further on. */
const scanned = 5_000
const batchSize = 250

/** Up to so many runs are sorted for a page where no index has them in its order. */
const mostSorted = 1_000
const sortedBytes = 4 * 1024 * 1024

type Runs = Pick<View<RunSummaryView>, 'find'>
type Range = { index: string; equals: readonly string[]; from?: string; below?: string }

/** `next`: the place to continue after; null: there are no more. */
type Page = { runs: RunSummaryView[]; next: string | null }

const isoTime = (ms: number): string => new Date(ms).toISOString()

const startsIn = ({ from, to }: RunsQuery) => ({
  ...(from === undefined ? {} : { from: isoTime(from) }),
  ...(to === undefined ? {} : { below: isoTime(to) }),
})

/** The runs of an organization in the order of their start: of one filter, and a time. */
const narrowest = (query: RunsQuery): Range => {
  const { organizationId, status, agentId, userId, sessionId } = query
  const filters = { by_session: sessionId, by_user: userId, by_agent: agentId, by_status: status }
  const times = startsIn(query)
  for (const [index, value] of Object.entries(filters))
    if (value !== undefined) return { index, equals: [organizationId, value], ...times }
  return { index: 'started_at', equals: [organizationId], ...times }
}

const passes = (query: RunsQuery): ((run: RunSummaryView) => boolean) => {
  const { status, agentId, model, userId, sessionId } = query
  const { from = '', below } = startsIn(query)
  return (run) =>
    (status ?? run.status) === run.status &&
    (agentId ?? run.agent_id) === run.agent_id &&
    (userId ?? run.user_id) === run.user_id &&
    (sessionId ?? run.session_id) === run.session_id &&
    (model === undefined || run.models.includes(model)) &&
    run.started_at >= from &&
    (below === undefined || run.started_at < below)
}

/** A page from an index in the order of the sort, as far as so many reads go. */
const scan = async (runs: Runs, query: RunsQuery, range: Range): Promise<Page> => {
  const { sort, limit } = query
  const isMatch = passes(query)
  const matches: RunSummaryView[] = []
  let rest = range
  for (let reads = 0; reads < scanned; ) {
    const find = { ...rest, descending: true, limit: batchSize, total: 1 }
    const { items } = await runs.find(find)
    for (const run of items) {
      if (isMatch(run)) {
        const last = matches.at(-1)
        if (last && matches.length === limit) return { runs: matches, next: last.order[sort] }
        matches.push(run)
      }
    }
    const last = items.at(-1)
    if (last) rest = { ...range, below: last.order[sort] }
    if (items.length < batchSize) return { runs: matches, next: null }
    reads += items.length
    await yieldToEventLoop()
  }
  return { runs: matches, next: rest.below ?? null }
}

/** A page of the runs in a range, sorted here; undefined where they are too many. */
const sortFew = async (runs: Runs, query: RunsQuery, range: Range): Promise<Page | undefined> => {
  const { sort, after, limit } = query
  const find = { ...range, limit: mostSorted + 1, bytes: sortedBytes, total: 1 }
  const { items, cut } = await runs.find(find)
  if (cut || items.length > mostSorted) return undefined
  const matches = items
    .filter(passes(query))
    .filter(({ order }) => after === undefined || order[sort] < after)
    .toSorted((left, right) => (left.order[sort] < right.order[sort] ? 1 : -1))
  const page = matches.slice(0, limit)
  return { runs: page, next: matches.length > limit ? (page.at(-1)?.order[sort] ?? null) : null }
}

/** The part of a range, which is in descending order, after a place. */
const following = (range: Range, after: string | undefined): Range =>
  after === undefined || (range.below !== undefined && range.below <= after)
    ? range
    : { ...range, below: after }

const pageOf = async (runs: Runs, query: RunsQuery): Promise<Page> => {
  const { organizationId, sort, after } = query
  const range = narrowest(query)
  if (sort === 'started_at') return scan(runs, query, following(range, after))
  const all = { index: sort, equals: [organizationId] }
  const isNarrow = range.equals.length > 1 || range.from !== undefined || range.below !== undefined
  const few = isNarrow ? await sortFew(runs, query, range) : undefined
  return few ?? scan(runs, query, following(all, after))
}

/**
 * An organization's runs: the newest, longest, costliest or largest first. A page may have fewer
 * runs than its limit, or none, and still a next one, since the reads of a request are bounded.
 */
export const listRuns =
  ({ runSummaries }: { runSummaries: Runs }) =>
  async (query: RunsQuery) => {
    const { runs, next } = await pageOf(runSummaries, query)
    return { runs: runs.map(runSummaryOf), next }
  }
export type ListRuns = ReturnType<typeof listRuns>
