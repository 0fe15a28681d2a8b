import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { agentNamesQuery } from '../../api/agents.ts'
import { memberNamesQuery } from '../../api/members.ts'
import { Count, Credits } from '../../components/amounts.tsx'
import { Button } from '../../components/button.tsx'
import { type Column, DataTable, useCursorPaging } from '../../components/data-table.tsx'
import { Segments } from '../../components/segments.tsx'
import { shortId } from '../../components/short-id.ts'
import { EmptyState, QueryView, Skeleton } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { formatCredits } from '../../format/numbers.ts'
import { formatDay } from '../../format/time.ts'
import { useSession } from '../../session/session.ts'
import { usageQuery } from '../overview/overview-queries.ts'
import { dayOf, daysUpTo } from '../overview/usage-series.ts'
import styles from './people.module.css'
import {
  type ChargedRun,
  type ChargeFilters,
  chargedRunsQuery,
  creditsQuery,
  type UsageRow,
} from './people-queries.ts'

const route = getRouteApi('/people')

const plans: Readonly<Record<string, string>> = {
  basic_monthly: 'Basic, monthly',
  pro_monthly: 'Pro, monthly',
}

const ranges = [
  { id: '7', label: '7 days' },
  { id: '30', label: '30 days' },
  { id: '90', label: '90 days' },
] as const

const divisions = [
  { id: 'day', label: 'By day' },
  { id: 'agent_id', label: 'By agent' },
  { id: 'model', label: 'By model' },
  { id: 'user_id', label: 'By user' },
] as const
type Division = (typeof divisions)[number]['id']

const headings = { day: 'Day', agent_id: 'Agent', model: 'Model', user_id: 'User' } as const

const Balances = () => {
  const { organizationId } = useSession()
  const query = useQuery(creditsQuery(organizationId))
  const { data: names } = useQuery(memberNamesQuery(organizationId))
  return (
    <QueryView query={query} skeleton={<Skeleton height="6.5rem" />}>
      {({ owners }) => (
        <ul className={styles.balances} aria-label="Owners">
          {owners.map(({ user_id, plan, credit_balance, effective_balance }) => (
            <li key={user_id} className="card">
              <span className="truncate" dir="auto">
                {names?.get(user_id) ?? user_id}
              </span>
              <strong className={styles.balance}>{formatCredits(credit_balance)} credits</strong>
              <span className="soft small">
                {formatCredits(effective_balance)} available; open runs hold back the rest
              </span>
              <span className="small">
                {plan === null ? 'No plan' : `Plan: ${plans[plan] ?? plan}`}
              </span>
            </li>
          ))}
        </ul>
      )}
    </QueryView>
  )
}

type Names = {
  agents: ReadonlyMap<string, string> | undefined
  members: ReadonlyMap<string, string> | undefined
}

const labelOf = (division: Division, value: string | null | undefined, names: Names): string => {
  if (!value) return division === 'model' ? 'No model' : 'None'
  if (division === 'day') return formatDay(value)
  if (division === 'agent_id') return names.agents?.get(value) ?? value
  return division === 'user_id' ? (names.members?.get(value) ?? value) : value
}

const useNames = (): Names => {
  const { organizationId } = useSession()
  const { data: agents } = useQuery(agentNamesQuery(organizationId))
  const { data: members } = useQuery(memberNamesQuery(organizationId))
  return { agents, members }
}

const usageColumns = (
  division: Division,
  range: '7' | '30' | '90',
  names: Names,
): Column<UsageRow>[] => [
  {
    id: 'name',
    header: headings[division],
    meta: { main: true },
    cell: ({ row: { original } }) => {
      const value = original[division]
      const label = labelOf(division, value, names)
      return value ? (
        <Link
          to="/people"
          search={{ tab: 'credits', by: division, range, [division]: value }}
          hash="charges"
        >
          <span dir="auto">{label}</span>
        </Link>
      ) : (
        <span className="soft">{label}</span>
      )
    },
  },
  {
    id: 'runs',
    header: 'Runs',
    meta: { align: 'end' },
    cell: ({ row: { original } }) => <Count of={original.runs} />,
  },
  {
    id: 'in',
    header: 'Tokens in',
    meta: { align: 'end', priority: 'medium' },
    cell: ({ row: { original } }) => <Count of={original.prompt_tokens} />,
  },
  {
    id: 'out',
    header: 'Tokens out',
    meta: { align: 'end', priority: 'medium' },
    cell: ({ row: { original } }) => <Count of={original.completion_tokens} />,
  },
  {
    id: 'credits',
    header: 'Credits',
    meta: { align: 'end' },
    cell: ({ row: { original } }) => <Credits amount={original.credits} />,
  },
]

const runColumns: Column<ChargedRun>[] = [
  {
    id: 'run',
    header: 'Run',
    meta: { main: true },
    cell: ({ row: { original } }) => (
      <Link to="/charges/$runId" params={{ runId: original.run_id }} className="mono">
        {shortId(original.run_id)}
      </Link>
    ),
  },
  {
    id: 'agent',
    header: 'Agent',
    cell: ({ row: { original } }) => <span dir="auto">{original.agent_name}</span>,
  },
  {
    id: 'status',
    header: 'Status',
    meta: { priority: 'medium' },
    cell: ({ row: { original } }) => <Status status={original.status} />,
  },
  {
    id: 'started',
    header: 'Started',
    meta: { priority: 'medium' },
    cell: ({ row: { original } }) => <Time at={original.started_at} />,
  },
  {
    id: 'tokens',
    header: 'Tokens',
    meta: { align: 'end', priority: 'medium' },
    cell: ({ row: { original } }) => (
      <Count of={original.prompt_tokens + original.completion_tokens} />
    ),
  },
  {
    id: 'charge',
    header: 'Credits',
    meta: { align: 'end' },
    cell: ({ row: { original } }) => <Credits amount={original.charge} />,
  },
]

const nextDay = (day: string): string =>
  dayOf(new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000))

const Runs = ({ first, last }: { first: string; last: string }) => {
  const { organizationId } = useSession()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { day, agent_id, model, user_id, cursor } = search
  const names = useNames()
  const filters: ChargeFilters = {
    agent_id,
    model,
    user_id,
    from: `${day ?? first}T00:00:00Z`,
    to: `${nextDay(day ?? last)}T00:00:00Z`,
  }
  const { data, error, refetch } = useQuery(chargedRunsQuery(organizationId, filters, cursor))
  const paging = useCursorPaging({
    cursor,
    nextCursor: data?.next_cursor,
    onCursor: (next) => void navigate({ search: { ...search, cursor: next } }),
  })
  const chosen = divisions.find(({ id }) => search[id] !== undefined)?.id
  return (
    <section className="stack" aria-labelledby="charges">
      <div className={styles.bar}>
        <h2 id="charges">
          {chosen === undefined ? 'Charges' : `Charges: ${labelOf(chosen, search[chosen], names)}`}
        </h2>
        {chosen !== undefined && (
          <Button
            kind="quiet"
            icon="close"
            onPress={() =>
              void navigate({ search: { tab: 'credits', by: search.by, range: search.range } })
            }
          >
            Show all
          </Button>
        )}
      </div>
      <DataTable
        label="Charges"
        columns={runColumns}
        rows={data?.runs}
        rowId={({ run_id }) => run_id}
        linked
        paging={paging}
        error={data ? undefined : error}
        onRetry={() => void refetch()}
        expectedRows={4}
        empty={
          <EmptyState icon="runs" title="No charges">
            No run began in this time. Each run appears here with its charge.
          </EmptyState>
        }
      />
    </section>
  )
}

/** Plan, credits, what was used, and what each run cost. */
export const CreditsTab = () => {
  const { organizationId } = useSession()
  const { range = '30', by = 'day' } = route.useSearch()
  const navigate = route.useNavigate()
  const today = dayOf(new Date())
  const days = daysUpTo(today, Number(range))
  const first = days[0] ?? today
  const { data, error, refetch } = useQuery(
    usageQuery({ organizationId, from: first, to: today }, by),
  )
  const names = useNames()
  const { agents, members } = names
  const columns = useMemo(
    () => usageColumns(by, range, { agents, members }),
    [by, range, agents, members],
  )
  const rows = useMemo(
    () =>
      data?.usage.toSorted((a, b) =>
        by === 'day' ? (b.day ?? '').localeCompare(a.day ?? '') : b.credits - a.credits,
      ),
    [data, by],
  )
  return (
    <div className="stack">
      <Balances />
      <div className={styles.bar}>
        <h2>Usage</h2>
        <div className="row">
          <Segments
            label="Grouping"
            options={divisions}
            value={by}
            onChange={(id) => void navigate({ search: { tab: 'credits', by: id, range } })}
          />
          <Segments
            label="Time range"
            options={ranges}
            value={range}
            onChange={(id) => void navigate({ search: { tab: 'credits', by, range: id } })}
          />
        </div>
      </div>
      <DataTable
        label="Usage"
        columns={columns}
        rows={rows}
        rowId={(row) => String(row[by])}
        linked
        error={data ? undefined : error}
        onRetry={() => void refetch()}
        expectedRows={3}
        empty={
          <EmptyState icon="overview" title="Nothing was used in this time">
            Tokens and credits of each run appear here as soon as it has ended.
          </EmptyState>
        }
      />
      <Runs first={first} last={today} />
    </div>
  )
}
