import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Select } from '../../components/fields.tsx'
import { Page } from '../../components/page.tsx'
import { numberedPages } from '../../components/page-numbers.ts'
import { Segments } from '../../components/segments.tsx'
import { EmptyState, ForbiddenState } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { Time } from '../../components/time.tsx'
import { useSession } from '../../session/session.ts'
import { UserName } from '../../session/user-name.tsx'
import styles from './approvals.module.css'
import { type Approval, approvalsQuery, runsInDoubtQuery } from './approvals-queries.ts'
import { RunsInDoubt } from './runs-in-doubt.tsx'

const route = getRouteApi('/approvals')

const statuses = [
  { id: 'pending', label: 'Pending' },
  { id: 'approved', label: 'Approved' },
  { id: 'denied', label: 'Denied' },
  { id: 'expired', label: 'Expired' },
  { id: 'withdrawn', label: 'Withdrawn' },
  { id: 'all', label: 'All statuses' },
] as const

const owners = [
  { id: 'admins', label: 'For admins' },
  { id: 'me', label: 'My conversations' },
] as const

const summaryOf = (value: unknown): string => JSON.stringify(value) ?? ''

const columns: Column<Approval>[] = [
  {
    id: 'tool',
    header: 'Tool',
    meta: { main: true },
    cell: ({ row: { original } }) => (
      <Link to="/approvals/$approvalId" params={{ approvalId: original.approval_id }}>
        {original.tool_name}
      </Link>
    ),
  },
  {
    id: 'arguments',
    header: 'Arguments',
    meta: { priority: 'medium' },
    cell: ({ row: { original } }) => {
      const text = summaryOf(original.arguments)
      return (
        <div className={styles.arguments} title={text.slice(0, 1_000)}>
          <code>{text.slice(0, 200)}</code>
        </div>
      )
    },
  },
  {
    id: 'agent',
    header: 'Agent',
    meta: { priority: 'medium' },
    cell: ({ row: { original } }) => <span dir="auto">{original.agent_name}</span>,
  },
  {
    id: 'user',
    header: 'User',
    meta: { priority: 'low' },
    cell: ({ row: { original } }) => <UserName id={original.user_id} />,
  },
  {
    id: 'status',
    header: 'Status',
    cell: ({ row: { original } }) => <Status status={original.status} />,
  },
  {
    id: 'requested',
    header: 'Requested',
    meta: { align: 'end' },
    cell: ({ row: { original } }) => <Time at={original.requested_at} />,
  },
  {
    id: 'expires',
    header: 'Expires',
    meta: { align: 'end', priority: 'low' },
    cell: ({ row: { original } }) => (
      <Time at={original.status === 'pending' ? original.expires_at : null} />
    ),
  },
]

const Inbox = () => {
  const { status = 'pending', of, page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const { isManager } = useSession()
  const ofAdmins = isManager && of !== 'me'
  const { data, error, refetch } = useQuery(
    approvalsQuery({ status: status === 'all' ? undefined : status, ofAdmins, page }),
  )
  return (
    <div className="stack">
      <div className="row">
        {isManager && (
          <Segments
            label="Approver"
            options={owners}
            value={ofAdmins ? 'admins' : 'me'}
            onChange={(id) =>
              void navigate({
                search: (former) => ({
                  ...former,
                  of: id === 'me' ? ('me' as const) : undefined,
                  page: undefined,
                }),
              })
            }
          />
        )}
        <div className={styles.filter}>
          <Select
            label="Status"
            hideLabel
            options={statuses}
            value={status}
            onChange={(id) =>
              void navigate({
                search: (former) => ({
                  ...former,
                  status: id === 'pending' ? undefined : id,
                  page: undefined,
                }),
              })
            }
          />
        </div>
      </div>
      <DataTable
        label="Approvals"
        columns={columns}
        rows={data?.approvals}
        rowId={({ approval_id }) => approval_id}
        linked
        error={data ? undefined : error}
        onRetry={() => void refetch()}
        summary={data && `${data.total} in total`}
        paging={numberedPages({
          page,
          hasNext: data?.has_next ?? false,
          onPage: (next) => void navigate({ search: (former) => ({ ...former, page: next }) }),
        })}
        empty={
          status === 'pending' ? (
            <EmptyState icon="approvals" title="Nothing waits for a decision">
              {ofAdmins
                ? 'Calls of tools that an owner or admin has to approve appear here.'
                : 'Calls of tools in your own conversations that need your approval appear here.'}
            </EmptyState>
          ) : (
            <EmptyState icon="approvals" title="No approvals with this status" />
          )
        }
      />
    </div>
  )
}

/** The calls of tools that wait, or waited, for a decision, and those in doubt. */
export const ApprovalsScreen = () => {
  const { tab } = route.useSearch()
  const navigate = route.useNavigate()
  const { can, isManager, organizationId } = useSession()
  const seesDoubt = can('admin:read') && isManager
  const doubt = useQuery({ ...runsInDoubtQuery(organizationId), enabled: seesDoubt })
  const count = doubt.data?.total ?? 0
  return (
    <Page title="Approvals" description="Calls of tools that wait, or waited, for a decision.">
      <Tabs
        label="Approvals"
        selected={tab ?? 'approvals'}
        onSelect={(id) =>
          void navigate({ search: { tab: id === 'in_doubt' ? id : undefined }, replace: true })
        }
        tabs={[
          {
            id: 'approvals',
            label: 'Approvals',
            content: can('approvals:read') ? (
              <Inbox />
            ) : (
              <ForbiddenState scope="approvals:read" what="approvals" />
            ),
          },
          {
            id: 'in_doubt',
            label: count > 0 ? `In doubt (${count})` : 'In doubt',
            content: seesDoubt ? (
              <RunsInDoubt query={doubt} />
            ) : (
              <ForbiddenState scope="admin:read" what="runs of others" />
            ),
          },
        ]}
      />
    </Page>
  )
}
