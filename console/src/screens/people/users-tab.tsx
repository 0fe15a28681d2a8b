import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { CopyButton } from '../../components/code-block.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { SearchField } from '../../components/fields.tsx'
import { EmptyState, ForbiddenState } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { useSession } from '../../session/session.ts'
import { pagePaging } from './page-paging.ts'
import styles from './people.module.css'
import { type User, usersQuery } from './people-queries.ts'

const route = getRouteApi('/people')

const columns: Column<User>[] = [
  {
    id: 'email',
    header: 'Email',
    meta: { main: true },
    cell: ({ row: { original } }) => original.email ?? '–',
  },
  {
    id: 'name',
    header: 'Name',
    meta: { priority: 'medium' },
    cell: ({ row: { original } }) => <span dir="auto">{original.name ?? '–'}</span>,
  },
  {
    id: 'status',
    header: 'Membership',
    cell: ({ row: { original } }) => (
      <Status
        status={original.membership_status}
        label={original.membership_status === 'pending' ? 'Invited' : 'Active'}
      />
    ),
  },
  {
    id: 'created_at',
    header: 'Provisioned',
    meta: { priority: 'medium' },
    cell: ({ row: { original } }) => <Time at={original.created_at} />,
  },
  {
    id: 'history',
    header: 'History',
    cell: ({ row: { original } }) => (
      <span className={styles.inline}>
        <Link to="/history" search={{ actor: original.user_id }}>
          Events
        </Link>
        <CopyButton text={original.user_id} what="User id" />
      </span>
    ),
  },
]

/** The users whose accounts the organization provisioned. */
export const UsersTab = () => {
  const { organizationId, can, isPlatform } = useSession()
  const { email, page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const [text, setText] = useState(email ?? '')
  const isAllowed = can('users:provision') && !isPlatform
  const { data, error, refetch } = useQuery({
    ...usersQuery(organizationId, email, page),
    enabled: isAllowed,
  })
  if (!isAllowed) return <ForbiddenState scope="users:provision" what="provisioned users" />
  return (
    <div className="stack">
      <div className={styles.search}>
        <SearchField
          label="Email"
          placeholder="Find by email, then Enter"
          value={text}
          onChange={(value) => {
            setText(value)
            if (value === '' && email) void navigate({ search: { tab: 'users' } })
          }}
          onSubmit={(value) =>
            void navigate({ search: { tab: 'users', email: value.trim() || undefined } })
          }
        />
      </div>
      <DataTable
        label="Provisioned users"
        columns={columns}
        rows={data?.users}
        rowId={({ user_id }) => user_id}
        paging={pagePaging(
          page,
          data?.has_next,
          (next) => void navigate({ search: { tab: 'users', email, page: next } }),
        )}
        error={data ? undefined : error}
        onRetry={() => void refetch()}
        expectedRows={4}
        empty={
          email ? (
            <EmptyState icon="search" title="No user has this address" />
          ) : (
            <EmptyState icon="people" title="No provisioned users">
              Users appear here once a system creates their accounts with the provisioning API.
            </EmptyState>
          )
        }
      />
    </div>
  )
}
