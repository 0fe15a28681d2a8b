import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Count } from '../../components/amounts.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Page } from '../../components/page.tsx'
import { EmptyState, ForbiddenState } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { useSession } from '../../session/session.ts'
import { type Feed, feedsQuery, fieldsOf, lagOf } from './feeds-query.ts'

const columns: Column<Feed>[] = [
  {
    id: 'read_model',
    header: 'Read model',
    meta: { main: true },
    cell: ({ row: { original } }) => (
      <Link to="/feeds/$readModel" params={{ readModel: original.read_model }}>
        {original.read_model}
      </Link>
    ),
  },
  {
    id: 'lag',
    header: 'State',
    cell: ({ row: { original } }) => (
      <Status
        status={original.lag === 0 ? 'ok' : 'pending'}
        tone={original.lag === 0 ? 'good' : 'active'}
        label={lagOf(original)}
      />
    ),
  },
  {
    id: 'position',
    header: 'Position',
    meta: { align: 'end' },
    cell: ({ row: { original } }) => <Count of={original.position} />,
  },
  {
    id: 'fields',
    header: 'Fields',
    meta: { align: 'end', priority: 'medium' },
    cell: ({ row: { original } }) => <Count of={fieldsOf(original).length} />,
  },
]

const description =
  'Every read model is a table that other systems can follow: a snapshot, then each change.'

/** The read models that can be followed, with their lag. */
export const FeedsScreen = () => {
  const { can, organizationId } = useSession()
  const isAllowed = can('admin:read')
  const { data, error, refetch } = useQuery({ ...feedsQuery(organizationId), enabled: isAllowed })
  return (
    <Page title="Feeds" description={description}>
      {isAllowed ? (
        <DataTable
          label="Read models"
          columns={columns}
          rows={data}
          rowId={({ read_model }) => read_model}
          linked
          error={data ? undefined : error}
          onRetry={() => void refetch()}
          expectedRows={14}
          empty={<EmptyState icon="feeds" title="There are no read models" />}
        />
      ) : (
        <ForbiddenState scope="admin:read" what="feeds" />
      )}
    </Page>
  )
}
