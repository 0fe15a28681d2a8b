import { Link } from '@tanstack/react-router'
import { Count, Credits, Duration } from '../../components/amounts.tsx'
import type { Column } from '../../components/data-table.tsx'
import { shortId } from '../../components/short-id.ts'
import { Status } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import type { RunFilters } from './filters.ts'
import styles from './runs.module.css'
import type { RunSummary } from './runs-queries.ts'

/** The link to a run, by its agent, with the list's filters for what is next to it. */
const RunLink = ({ run, filters }: { run: RunSummary; filters: RunFilters }) => (
  <span className={styles.name}>
    <Link
      to="/runs/$runId"
      params={{ runId: run.run_id }}
      search={filters}
      className="truncate"
      title={run.agent_name}
      dir="auto"
    >
      {run.agent_name}
    </Link>
    <span className="mono soft">{shortId(run.run_id)}</span>
  </span>
)

/** The columns of a list of runs. */
export const runColumns = (
  filters: RunFilters,
  names: ReadonlyMap<string, string> | undefined,
): Column<RunSummary>[] => [
  {
    id: 'run',
    header: 'Run',
    meta: { main: true },
    cell: ({ row: { original } }) => <RunLink run={original} filters={filters} />,
  },
  {
    id: 'status',
    header: 'Status',
    cell: ({ row: { original } }) => (
      <span className={styles.status}>
        <Status status={original.status} />
        {original.draft && <Status status="draft" />}
        {original.code && (
          <code className="truncate" title={original.code}>
            {original.code}
          </code>
        )}
      </span>
    ),
  },
  {
    id: 'started',
    header: 'Started',
    meta: { sort: 'started_at' },
    cell: ({ row: { original } }) => <Time at={original.started_at} />,
  },
  {
    id: 'duration',
    header: 'Duration',
    meta: { align: 'end', sort: 'duration_ms' },
    cell: ({ row: { original } }) => <Duration ms={original.duration_ms} />,
  },
  {
    id: 'tokens',
    header: 'Tokens',
    meta: { align: 'end', sort: 'tokens' },
    cell: ({ row: { original } }) => (
      <Count of={original.prompt_tokens + original.completion_tokens} />
    ),
  },
  {
    id: 'credits',
    header: 'Credits',
    meta: { align: 'end', sort: 'charge' },
    cell: ({ row: { original } }) => <Credits amount={original.charge} />,
  },
  {
    id: 'first-token',
    header: 'First token',
    meta: { align: 'end', priority: 'low' },
    cell: ({ row: { original } }) => <Duration ms={original.time_to_first_token_ms} />,
  },
  {
    id: 'model',
    header: 'Model',
    meta: { priority: 'low' },
    cell: ({ row: { original } }) => (
      <span className={`truncate ${styles.limited}`} title={original.models.join(', ')}>
        {original.models[0] ?? '–'}
        {original.models.length > 1 && ` +${original.models.length - 1}`}
      </span>
    ),
  },
  {
    id: 'user',
    header: 'User',
    meta: { priority: 'low' },
    cell: ({ row: { original } }) => {
      const { user_id: id } = original
      const name = id === null ? '–' : (names?.get(id) ?? shortId(id))
      return (
        <span className={`truncate ${styles.limited}`} title={id ?? undefined} dir="auto">
          {name}
        </span>
      )
    },
  },
  {
    id: 'session',
    header: 'Session',
    meta: { priority: 'low' },
    cell: ({ row: { original } }) => (
      <span className={`truncate mono ${styles.limited}`} title={original.session_id}>
        {shortId(original.session_id)}
      </span>
    ),
  },
]
