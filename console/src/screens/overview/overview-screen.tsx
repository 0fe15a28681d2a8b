import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, Navigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { agentNamesQuery } from '../../api/agents.ts'
import { useFeedSignal } from '../../api/use-feed-signal.ts'
import { Count, Credits, Duration } from '../../components/amounts.tsx'
import { Chart, type Series } from '../../components/chart.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Page } from '../../components/page.tsx'
import { Segments } from '../../components/segments.tsx'
import {
  EmptyState,
  FailedState,
  ForbiddenState,
  Loading,
  Skeleton,
} from '../../components/states.tsx'
import { formatDuration } from '../../format/duration.ts'
import { formatCompact, formatCredits, formatPercent } from '../../format/numbers.ts'
import { useSession } from '../../session/session.ts'
import { screensFor } from '../../shell/navigation.ts'
import { Attention } from './attention.tsx'
import { type Totals, type Usage, usageQuery } from './overview-queries.ts'
import styles from './overview-screen.module.css'
import { changeOf, dayOf, daysUpTo, largestGroups, valuesByDay } from './usage-series.ts'

const route = getRouteApi('/')

const ranges = [
  { id: '7', label: '7 days' },
  { id: '14', label: '14 days' },
  { id: '30', label: '30 days' },
  { id: '90', label: '90 days' },
] as const

/** The fields that the charts divide usage by. */
const divisions = [
  { id: 'agent', label: 'By agent', noun: 'agent', heading: 'Agent', field: 'agent_id' },
  { id: 'model', label: 'By model', noun: 'model', heading: 'Model', field: 'model' },
] as const
type Division = (typeof divisions)[number]

const mostSeries = 5

const tokensOf = ({ prompt_tokens, completion_tokens }: Totals): number =>
  prompt_tokens + completion_tokens
const failuresOf = ({ failed, timed_out }: Totals): number => failed + timed_out

type FigureProps = { label: string; value: string; hint: string }

const Figure = ({ label, value, hint }: FigureProps) => (
  <dl className={styles.figure}>
    <dt>{label}</dt>
    <dd className="number">{value}</dd>
    <dd>{hint}</dd>
  </dl>
)

const comparison = (before: number | undefined, after: number): string => {
  if (before === undefined) return ''
  const ratio = changeOf(before, after)
  if (ratio === null) return 'No data in the previous period'
  return `${ratio > 0 ? '+' : ''}${formatPercent(ratio)} vs. the previous period`
}

const Figures = ({ total, former }: { total: Totals; former: Totals | undefined }) => {
  const failures = failuresOf(total)
  const share = total.runs > 0 ? `${formatPercent(failures / total.runs)} of runs` : 'No runs'
  return (
    <div className={styles.cards}>
      <Figure
        label="Runs"
        value={formatCompact(total.runs)}
        hint={comparison(former?.runs, total.runs)}
      />
      <Figure label="Failed" value={formatCompact(failures)} hint={share} />
      <Figure
        label="Tokens"
        value={formatCompact(tokensOf(total))}
        hint={`${formatCompact(total.prompt_tokens)} in, ${formatCompact(total.completion_tokens)} out`}
      />
      <Figure
        label="Credits"
        value={formatCredits(total.credits)}
        hint={comparison(former?.credits, total.credits)}
      />
      <Figure
        label="Duration"
        value={formatDuration(total.duration_p50_ms)}
        hint={`Median; 95% within ${formatDuration(total.duration_p95_ms)}`}
      />
    </div>
  )
}

type Grouped = {
  rows: readonly Usage[]
  key: (row: Usage) => string
  name: (key: string) => string
}

const useSeries = (rows: readonly Usage[], grouped: Grouped, days: readonly string[]) =>
  useMemo(() => {
    const byDay = (
      label: string,
      value: (row: Usage) => number | null,
      gap: 0 | null = 0,
    ): Series => ({
      label,
      values: valuesByDay(rows, days, value, gap),
    })
    const byGroup = (value: (row: Usage) => number): Series[] =>
      largestGroups(grouped.rows, days, { ...grouped, value, most: mostSeries })
    return {
      outcomes: [
        byDay('Completed', ({ completed }) => completed),
        { ...byDay('Failed', failuresOf), color: 'var(--bad)' },
        { ...byDay('Cancelled', ({ cancelled }) => cancelled), color: 'var(--text-soft)' },
      ],
      durations: [
        byDay('Median', ({ duration_p50_ms }) => duration_p50_ms, null),
        byDay('95th percentile', ({ duration_p95_ms }) => duration_p95_ms, null),
      ],
      runs: byGroup(({ runs }) => runs),
      failures: byGroup(failuresOf),
      tokens: byGroup(tokensOf),
      credits: byGroup(({ credits }) => credits),
    }
  }, [rows, grouped, days])

/** A chart of durations sums nothing up: its legend has the greatest value. */
const greatest = (values: readonly (number | null)[]): number | null => {
  const numbers = values.filter((value) => value !== null)
  return numbers.length > 0 ? Math.max(...numbers) : null
}

type GroupRow = Usage & { name: string }

const columnsFor = (header: string): Column<GroupRow>[] => [
  {
    id: 'name',
    header,
    meta: { main: true },
    cell: ({ row: { original } }) => <span dir="auto">{original.name}</span>,
  },
  {
    id: 'runs',
    header: 'Runs',
    meta: { align: 'end' },
    cell: ({ row: { original } }) => <Count of={original.runs} />,
  },
  {
    id: 'failed',
    header: 'Failed',
    meta: { align: 'end' },
    cell: ({ row: { original } }) => <Count of={failuresOf(original)} />,
  },
  {
    id: 'tokens',
    header: 'Tokens',
    meta: { align: 'end' },
    cell: ({ row: { original } }) => <Count of={tokensOf(original)} />,
  },
  {
    id: 'credits',
    header: 'Credits',
    meta: { align: 'end' },
    cell: ({ row: { original } }) => <Credits amount={original.credits} />,
  },
  {
    id: 'median',
    header: 'Median duration',
    meta: { align: 'end', priority: 'medium' },
    cell: ({ row: { original } }) => <Duration ms={original.duration_p50_ms} />,
  },
  {
    id: 'p95',
    header: '95th percentile',
    meta: { align: 'end', priority: 'medium' },
    cell: ({ row: { original } }) => <Duration ms={original.duration_p95_ms} />,
  },
]

const LoadingCharts = () => (
  <Loading className="stack">
    <div className={styles.cards}>
      {['runs', 'failed', 'tokens', 'credits', 'duration'].map((id) => (
        <div key={id} className={styles.figure}>
          <Skeleton height="5rem" />
        </div>
      ))}
    </div>
    <div className={styles.charts}>
      {['outcomes', 'durations', 'runs', 'failures', 'tokens', 'credits'].map((id) => (
        <div key={id} className="card">
          <Skeleton height="14.5rem" />
        </div>
      ))}
    </div>
  </Loading>
)

const none: readonly Usage[] = []

const Dashboard = ({ range, division }: { range: number; division: Division }) => {
  const { organizationId } = useSession()
  const client = useQueryClient()
  const today = dayOf(new Date())
  const days = useMemo(() => daysUpTo(today, range), [today, range])
  const formerDays = daysUpTo(today, 2 * range).slice(0, range)
  const span = { organizationId, from: days[0] ?? today, to: today }
  const formerSpan = {
    organizationId,
    from: formerDays[0] ?? today,
    to: formerDays.at(-1) ?? today,
  }
  const { noun, field, heading } = division
  const daily = useQuery(usageQuery(span, 'day'))
  const former = useQuery(usageQuery(formerSpan, 'day'))
  const groupedDaily = useQuery(usageQuery(span, `day,${field}`))
  const groupTotals = useQuery(usageQuery(span, field))
  const { data: names } = useQuery(agentNamesQuery(organizationId))
  useFeedSignal(
    organizationId,
    'usage',
    () => void client.invalidateQueries({ queryKey: ['usage'] }),
  )

  const grouped = useMemo<Grouped>(() => {
    const nameOf = (key: string) => {
      if (field === 'model') return key || 'Unknown model'
      if (key === '') return 'No agent'
      return names?.get(key) ?? `Deleted agent ${key.slice(0, 8)}`
    }
    const rows = groupedDaily.data?.usage ?? none
    return { rows, key: (row) => row[field] ?? '', name: nameOf }
  }, [groupedDaily.data, names, field])
  const series = useSeries(daily.data?.usage ?? none, grouped, days)
  const table = useMemo(
    () =>
      groupTotals.data?.usage
        .map((row): GroupRow => ({ ...row, name: grouped.name(row[field] ?? '') }))
        .toSorted((a, b) => b.runs - a.runs),
    [groupTotals.data, grouped, field],
  )

  if (!daily.data) {
    if (daily.error) return <FailedState error={daily.error} onRetry={() => void daily.refetch()} />
    return <LoadingCharts />
  }
  const { total } = daily.data
  if (total.runs === 0 && former.data?.total.runs === 0)
    return (
      <EmptyState
        icon="overview"
        title="No runs yet"
        action={<Link to="/playground">Open the playground</Link>}
      >
        A run begins with each message to an agent. Its numbers appear here as soon as it has ended.
      </EmptyState>
    )
  return (
    <>
      <Figures total={total} former={former.data?.total} />
      <div className={styles.charts}>
        <div className="card">
          <Chart title="Runs by outcome" days={days} series={series.outcomes} />
        </div>
        <div className="card">
          <Chart
            title="Duration of completed runs"
            days={days}
            series={series.durations}
            kind="lines"
            format={formatDuration}
            summary={greatest}
          />
        </div>
        <div className="card">
          <Chart title={`Runs by ${noun}`} days={days} series={series.runs} />
        </div>
        <div className="card">
          <Chart title={`Failures by ${noun}`} days={days} series={series.failures} />
        </div>
        <div className="card">
          <Chart title={`Tokens by ${noun}`} days={days} series={series.tokens} />
        </div>
        <div className="card">
          <Chart
            title={`Credits by ${noun}`}
            days={days}
            series={series.credits}
            format={formatCredits}
          />
        </div>
      </div>
      <DataTable
        label={`Usage by ${noun}`}
        columns={columnsFor(heading)}
        rows={table}
        rowId={(row) => row[field] ?? ''}
        error={groupTotals.data ? undefined : groupTotals.error}
        onRetry={() => void groupTotals.refetch()}
        expectedRows={3}
        empty={<EmptyState title="No runs in this time" />}
      />
    </>
  )
}

/** What the organization's agents did, cost and failed at, and what somebody has to look at. */
export const OverviewScreen = () => {
  const { can, isManager } = useSession()
  const { range = '30', by } = route.useSearch()
  const navigate = route.useNavigate()
  const division = divisions.find(({ id }) => id === by) ?? divisions[0]
  if (!can('admin:read')) {
    const [first] = screensFor(can)
    return first ? <Navigate to={first.to} replace /> : <ForbiddenState scope="admin:read" />
  }
  return (
    <Page
      title="Overview"
      actions={
        <div className="row">
          <Segments
            label="Time range"
            options={ranges}
            value={range}
            onChange={(id) => void navigate({ search: (search) => ({ ...search, range: id }) })}
          />
          <Segments
            label="Division"
            options={divisions}
            value={division.id}
            onChange={(id) => void navigate({ search: (search) => ({ ...search, by: id }) })}
          />
        </div>
      }
    >
      {isManager ? (
        <>
          <Attention />
          <Dashboard range={Number(range)} division={division} />
        </>
      ) : (
        <ForbiddenState
          what="the usage of the organization"
          message="It needs the role of an owner or admin, beside the scope admin:read."
        />
      )}
    </Page>
  )
}
