import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useMemo, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { TextField } from '../../components/fields.tsx'
import { Page } from '../../components/page.tsx'
import { EmptyState, FailedState, ForbiddenState, Skeleton } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { formatDuration } from '../../format/duration.ts'
import { formatCredits, formatNumber, formatPercent } from '../../format/numbers.ts'
import { useSession } from '../../session/session.ts'
import { runColumns } from '../runs/run-columns.tsx'
import { type RunSummary, runsQuery } from '../runs/runs-queries.ts'
import { type AlignedStep, alignedSteps } from './align-steps.ts'
import { Conversation } from './conversation.tsx'
import styles from './run.module.css'
import { runQuery } from './run-queries.ts'
import type { Step } from './steps.ts'

const route = getRouteApi('/runs/compare')

/** A run with up to 20,000 steps; undefined while it is on its way. */
const useRunSide = (runId: string) => {
  const { organizationId } = useSession()
  const query = useInfiniteQuery(runQuery(organizationId, runId))
  const { data, hasNextPage, isFetching, fetchNextPage } = query
  useEffect(() => {
    if (hasNextPage && !isFetching) void fetchNextPage()
  }, [hasNextPage, isFetching, fetchNextPage])
  const steps = useMemo(() => data?.pages.flatMap((page): Step[] => page.steps) ?? [], [data])
  const run: RunSummary | undefined = data?.pages.at(-1)
  return { run, steps, error: query.error, retry: () => void query.refetch() }
}

const changeOf = (before: number | null, after: number | null): string => {
  if (before === null || after === null || before === 0) return ''
  const ratio = (after - before) / before
  return ratio === 0 ? 'same' : `${ratio > 0 ? '+' : ''}${formatPercent(ratio)}`
}

type FactRow = { name: string; a: ReactNode; b: ReactNode; change: string }

const tokensOf = ({ prompt_tokens, completion_tokens }: RunSummary): number =>
  prompt_tokens + completion_tokens

const factsOf = (a: RunSummary, b: RunSummary): FactRow[] => {
  const amount = (
    name: string,
    value: (run: RunSummary) => number | null,
    format: (value: number | null) => string,
  ): FactRow => ({
    name,
    a: format(value(a)),
    b: format(value(b)),
    change: changeOf(value(a), value(b)),
  })
  const text = (name: string, value: (run: RunSummary) => string): FactRow => ({
    name,
    a: <span dir="auto">{value(a)}</span>,
    b: <span dir="auto">{value(b)}</span>,
    change: value(a) === value(b) ? 'same' : 'differs',
  })
  const status = ({ status: state, code }: RunSummary) => (
    <span className="row">
      <Status status={state} />
      {code && <code>{code}</code>}
    </span>
  )
  return [
    {
      name: 'Status',
      a: status(a),
      b: status(b),
      change: a.status === b.status && a.code === b.code ? 'same' : 'differs',
    },
    { name: 'Started', a: <Time at={a.started_at} />, b: <Time at={b.started_at} />, change: '' },
    text('Agent', ({ agent_name }) => agent_name),
    text('Models', ({ models }) => models.join(', ') || '–'),
    amount('Duration', ({ duration_ms }) => duration_ms, formatDuration),
    amount('First token', ({ time_to_first_token_ms: ms }) => ms, formatDuration),
    amount('Tokens', tokensOf, formatNumber),
    amount('Credits', ({ charge }) => charge, formatCredits),
  ]
}

const factColumns: Column<FactRow>[] = [
  { id: 'name', header: 'Value', meta: { main: true }, cell: ({ row }) => row.original.name },
  { id: 'a', header: 'First run', cell: ({ row }) => row.original.a },
  { id: 'b', header: 'Second run', cell: ({ row }) => row.original.b },
  {
    id: 'change',
    header: 'Difference',
    meta: { align: 'end' },
    cell: ({ row }) => <span className="soft number">{row.original.change || '–'}</span>,
  },
]

const StepCell = ({ step }: { step: Step | undefined }) =>
  step ? (
    <span className="row">
      <span className="number">{formatDuration(step.duration_ms)}</span>
      {step.status !== 'completed' && <Status status={step.status} />}
    </span>
  ) : (
    <span className="soft">not there</span>
  )

const stepColumns: Column<AlignedStep>[] = [
  {
    id: 'name',
    header: 'Step',
    meta: { main: true },
    cell: ({ row: { original } }) => (
      <span
        className={styles.alignedName}
        style={{ paddingInlineStart: `${original.depth}rem` }}
        title={original.id}
        dir="auto"
      >
        {original.name}
      </span>
    ),
  },
  { id: 'a', header: 'First run', cell: ({ row }) => <StepCell step={row.original.a} /> },
  { id: 'b', header: 'Second run', cell: ({ row }) => <StepCell step={row.original.b} /> },
  {
    id: 'change',
    header: 'Difference',
    meta: { align: 'end' },
    cell: ({ row: { original } }) => (
      <span className="soft number">
        {changeOf(original.a?.duration_ms ?? null, original.b?.duration_ms ?? null) || '–'}
      </span>
    ),
  },
]

const mostSteps = 200

const Comparison = ({ a, b }: { a: string; b: string }) => {
  const first = useRunSide(a)
  const second = useRunSide(b)
  const [isWhole, setWhole] = useState(false)
  const steps = useMemo(() => alignedSteps(first.steps, second.steps), [first.steps, second.steps])
  const facts = useMemo(
    () => (first.run && second.run ? factsOf(first.run, second.run) : undefined),
    [first.run, second.run],
  )
  const failed = [first, second].find(({ error, run }) => error && !run)
  if (failed) return <FailedState error={failed.error} onRetry={failed.retry} />
  const visibleSteps = isWhole ? steps : steps.slice(0, mostSteps)
  return (
    <>
      <DataTable
        label="Values of both runs"
        columns={factColumns}
        rows={facts}
        rowId={({ name }) => name}
        expectedRows={8}
      />
      <div className={styles.columns}>
        {(['a', 'b'] as const).map((side) => {
          const { run } = side === 'a' ? first : second
          return (
            <section key={side} className={styles.side}>
              <div className="row">
                <h2>{side === 'a' ? 'First run' : 'Second run'}</h2>
                {run && (
                  <Link to="/runs/$runId" params={{ runId: run.run_id }} className="small">
                    Open the run
                  </Link>
                )}
              </div>
              {run ? <Conversation run={run} words="" /> : <Skeleton height="12rem" />}
            </section>
          )
        })}
      </div>
      <h2>Steps</h2>
      <DataTable
        label="Steps of both runs"
        columns={stepColumns}
        rows={first.run && second.run ? visibleSteps : undefined}
        rowId={({ id }) => id}
        empty={<EmptyState icon="runs" title="No steps" />}
      />
      {visibleSteps.length < steps.length && (
        <div>
          <Button onPress={() => setWhole(true)}>
            Show all {formatNumber(steps.length)} steps
          </Button>
        </div>
      )}
    </>
  )
}

const Chooser = ({
  first,
  onChoose,
}: {
  first: string | undefined
  onChoose: (id: string) => void
}) => {
  const { organizationId } = useSession()
  const [id, setId] = useState('')
  const query = useQuery(runsQuery(organizationId, {}, undefined))
  const rows = query.data?.runs.filter(({ run_id }) => run_id !== first)
  const columns = useMemo((): Column<RunSummary>[] => {
    return [
      ...runColumns({}, undefined),
      {
        id: 'choose',
        header: 'Compare',
        cell: ({ row }) => (
          <Button onPress={() => onChoose(row.original.run_id)}>
            {first ? 'Compare' : 'Choose'}
          </Button>
        ),
      },
    ]
  }, [first, onChoose])
  return (
    <>
      <div className={styles.chooser}>
        <TextField
          label={first ? 'ID of the second run' : 'ID of the first run'}
          value={id}
          onChange={setId}
          onKeyDown={({ key }) => key === 'Enter' && id.trim() && onChoose(id.trim())}
          mono
        />
        <Button isDisabled={id.trim() === ''} onPress={() => onChoose(id.trim())}>
          {first ? 'Compare' : 'Choose'}
        </Button>
      </div>
      <DataTable
        label="Newest runs"
        columns={columns}
        rows={rows}
        rowId={({ run_id }) => run_id}
        error={query.data ? undefined : query.error}
        onRetry={() => void query.refetch()}
        empty={<EmptyState icon="runs" title="No other runs" />}
      />
    </>
  )
}

/** Two runs side by side: values, conversations and steps at the same places. */
export const CompareScreen = () => {
  const { can, isManager } = useSession()
  const { a, b } = route.useSearch()
  const navigate = route.useNavigate()
  const isAllowed = can('admin:read') && isManager
  const choose = (id: string) =>
    void navigate({ search: a === undefined ? { a: id, b } : { a, b: id } })
  const isBoth = a !== undefined && b !== undefined
  return (
    <Page
      title="Compare runs"
      back={<Link to="/runs">Runs</Link>}
      actions={
        isBoth && (
          <>
            <Button onPress={() => void navigate({ search: { a: b, b: a } })}>Swap</Button>
            <Button onPress={() => void navigate({ search: { a } })}>Choose another run</Button>
          </>
        )
      }
    >
      {!isAllowed && (
        <ForbiddenState
          what="the runs of the organization"
          message="It needs the scope admin:read and the role of an owner or admin."
        />
      )}
      {isAllowed && isBoth && <Comparison key={`${a} ${b}`} a={a} b={b} />}
      {isAllowed && !isBoth && <Chooser first={a ?? b} onChoose={choose} />}
    </Page>
  )
}
