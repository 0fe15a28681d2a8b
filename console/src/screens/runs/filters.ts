import { z } from 'zod'

export const runStatuses = [
  'queued',
  'running',
  'awaiting_approval',
  'in_doubt',
  'completed',
  'failed',
  'cancelled',
  'timed_out',
] as const

export const runSorts = ['started_at', 'duration_ms', 'charge', 'tokens'] as const

export const timeRanges = [
  { id: '1h', label: 'Last hour', ms: 3_600_000 },
  { id: '24h', label: 'Last 24 hours', ms: 86_400_000 },
  { id: '7d', label: 'Last 7 days', ms: 7 * 86_400_000 },
  { id: '30d', label: 'Last 30 days', ms: 30 * 86_400_000 },
] as const

const text = z.string().min(1).max(200).optional().catch(undefined)
const day = z.iso.date().optional().catch(undefined)

/** The filters and the order of a list of runs, as they are in the address. */
export const runFilters = z.object({
  status: z.enum(runStatuses).optional().catch(undefined),
  agent_id: text,
  model: text,
  user_id: text,
  session_id: text,
  range: z.enum(['1h', '24h', '7d', '30d', 'custom']).optional().catch(undefined),
  /** Days of a custom range, both included. */
  from: day,
  to: day,
  sort: z.enum(runSorts).optional().catch(undefined),
})

export type RunFilters = z.infer<typeof runFilters>

/** The filters alone, of an address with other fields beside them. */
export const filtersOf = (search: RunFilters): RunFilters => {
  const { status, agent_id, model, user_id, session_id, range, from, to, sort } = search
  const all = { status, agent_id, model, user_id, session_id, range, from, to, sort }
  return Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== undefined),
  ) as RunFilters
}

/** Whether a list leaves anything out. */
export const isFiltered = (search: RunFilters): boolean => {
  const { sort, ...filters } = filtersOf(search)
  return Object.keys(filters).length > 0
}

/** The first moment of a day in the browser's zone; `later` days after it. */
const startOf = (name: string, later = 0): string => {
  const [year = 0, month = 1, date = 1] = name.split('-').map(Number)
  return new Date(year, month - 1, date + later).toISOString()
}

const timesOf = ({ range, from, to }: RunFilters, now: Date) => {
  if (range === undefined) return {}
  if (range === 'custom')
    return { ...(from ? { from: startOf(from) } : {}), ...(to ? { to: startOf(to, 1) } : {}) }
  const ms = timeRanges.find(({ id }) => id === range)?.ms ?? 0
  return { from: new Date(now.getTime() - ms).toISOString() }
}

/** What the API is asked for; relative ranges end now. */
export const queryOf = (search: RunFilters, now: Date) => {
  const { range: _, from: __, to: ___, ...same } = filtersOf(search)
  return { ...same, ...timesOf(search, now) }
}
