import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { Button } from '../../components/button.tsx'
import { Icon } from '../../components/icon.tsx'
import { useSession } from '../../session/session.ts'
import { useShortcut } from '../../shell/shortcuts.ts'
import type { RunFilters } from '../runs/filters.ts'
import { runsFromStartQuery } from '../runs/runs-queries.ts'

/** Runs before and after are searched for among so many pages of 200. */
const mostPages = 10

/** The runs before and after one in the list that it was opened from. */
const useNeighbors = (runId: string, filters: RunFilters) => {
  const { organizationId } = useSession()
  const { data, hasNextPage, isFetching, fetchNextPage } = useInfiniteQuery(
    runsFromStartQuery(organizationId, filters),
  )
  const ids = data?.pages.flatMap(({ runs }) => runs.map(({ run_id }) => run_id)) ?? []
  const at = ids.indexOf(runId)
  const pages = data?.pages.length ?? 0
  const needsMore = at === -1 || at === ids.length - 1
  useEffect(() => {
    if (needsMore && hasNextPage && !isFetching && pages > 0 && pages < mostPages)
      void fetchNextPage()
  }, [needsMore, hasNextPage, isFetching, pages, fetchNextPage])
  return at === -1 ? {} : { previous: ids[at - 1], next: ids[at + 1] }
}

type NeighborsProps<Search> = { runId: string; filters: RunFilters; search: Search }

/** Buttons and keys that lead to the run before and after, in the list's order. */
export const Neighbors = <Search extends RunFilters>(props: NeighborsProps<Search>) => {
  const { runId, filters, search } = props
  const { previous, next } = useNeighbors(runId, filters)
  const navigate = useNavigate()
  const open = (id: string | undefined) => {
    if (id) void navigate({ to: '/runs/$runId', params: { runId: id }, search })
  }
  useShortcut('k', 'Previous run', () => open(previous))
  useShortcut('j', 'Next run', () => open(next))
  return (
    <>
      <Button
        icon="chevron-left"
        isDisabled={!previous}
        aria-label="Previous run"
        onPress={() => open(previous)}
      >
        Previous
      </Button>
      <Button isDisabled={!next} aria-label="Next run" onPress={() => open(next)}>
        Next
        <Icon name="chevron-right" />
      </Button>
    </>
  )
}
