import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { memberNamesQuery } from '../../api/members.ts'
import { useFeedSignal } from '../../api/use-feed-signal.ts'
import { Button } from '../../components/button.tsx'
import { DataTable, useCursorPaging } from '../../components/data-table.tsx'
import { Page } from '../../components/page.tsx'
import { EmptyState, ForbiddenState } from '../../components/states.tsx'
import { useSession } from '../../session/session.ts'
import { FilterBar } from './filter-bar.tsx'
import { filtersOf, isFiltered, type RunFilters, runSorts } from './filters.ts'
import { useHeldRows } from './held-rows.ts'
import { runColumns } from './run-columns.tsx'
import styles from './runs.module.css'
import { runsKey, runsQuery } from './runs-queries.ts'

const route = getRouteApi('/runs')

const newsOf = (added: number, hasLeft: boolean): string | undefined => {
  if (added > 0) return `Show ${added} more ${added === 1 ? 'run' : 'runs'}`
  return hasLeft ? 'Update the list' : undefined
}

const RunList = () => {
  const { organizationId } = useSession()
  const client = useQueryClient()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { cursor } = search
  const filters = useMemo(() => filtersOf(search), [search])
  const query = useQuery(runsQuery(organizationId, filters, cursor))
  const { data: names } = useQuery(memberNamesQuery(organizationId))
  useFeedSignal(
    organizationId,
    'runs',
    () => void client.invalidateQueries({ queryKey: runsKey(organizationId) }),
  )
  const key = JSON.stringify([filters, cursor, organizationId])
  const isFailed = query.isError && query.data === undefined
  const list = useHeldRows(query.isPlaceholderData ? 'former' : key, query.data?.runs)
  const paging = useCursorPaging({
    cursor,
    nextCursor: query.data?.next_cursor,
    onCursor: (next) =>
      void navigate({ search: next === undefined ? filters : { ...filters, cursor: next } }),
  })
  const columns = useMemo(() => runColumns(filters, names), [filters, names])
  const news = newsOf(list.added, list.hasLeft)
  const setFilters = (next: RunFilters) => void navigate({ search: filtersOf(next) })
  return (
    <>
      <FilterBar filters={filters} onChange={setFilters} />
      <div className={styles.news} role="status">
        {news && (
          <Button kind="quiet" icon="refresh" onPress={list.apply}>
            {news}
          </Button>
        )}
      </div>
      <DataTable
        label="Runs"
        columns={columns}
        rows={isFailed ? undefined : list.rows}
        rowId={({ run_id }) => run_id}
        linked
        sort={{ by: filters.sort ?? 'started_at', descending: true }}
        onSort={({ by }) => {
          const sort = runSorts.find((name) => name === by)
          if (sort) setFilters({ ...filters, sort })
        }}
        paging={paging}
        error={isFailed ? query.error : undefined}
        onRetry={() => void query.refetch()}
        expectedRows={12}
        empty={
          isFiltered(filters) ? (
            <EmptyState
              icon="filter"
              title="No runs match these filters"
              action={<Button onPress={() => setFilters({})}>Clear filters</Button>}
            />
          ) : (
            <EmptyState
              icon="runs"
              title="No runs yet"
              action={<Link to="/playground">Open the playground</Link>}
            >
              Each message to an agent starts a run. It appears here at once, with its steps, tokens
              and credits.
            </EmptyState>
          )
        }
      />
    </>
  )
}

/** All runs of the organization. */
export const RunsScreen = () => {
  const { can, isManager } = useSession()
  return (
    <Page title="Runs">
      {can('admin:read') && isManager ? (
        <RunList />
      ) : (
        <ForbiddenState
          what="the runs of the organization"
          message="It needs the scope admin:read and the role of an owner or admin."
        />
      )}
    </Page>
  )
}
