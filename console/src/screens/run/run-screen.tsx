import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useMemo, useState } from 'react'
import { asCurl } from '../../api/as-curl.ts'
import { ApiError } from '../../api/problem.ts'
import { IconButton } from '../../components/button.tsx'
import { SearchField } from '../../components/fields.tsx'
import { Menu } from '../../components/menu.tsx'
import { notify } from '../../components/messages.tsx'
import { Page } from '../../components/page.tsx'
import {
  EmptyState,
  FailedState,
  ForbiddenState,
  Loading,
  Skeleton,
} from '../../components/states.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { formatNumber } from '../../format/numbers.ts'
import { useSession } from '../../session/session.ts'
import { filtersOf, type RunFilters } from '../runs/filters.ts'
import type { RunSummary } from '../runs/runs-queries.ts'
import { ChargeTab } from './charge-tab.tsx'
import { Conversation } from './conversation.tsx'
import { EraseDialog } from './erase-dialog.tsx'
import { JsonTab } from './json-tab.tsx'
import { Neighbors } from './neighbors.tsx'
import { Outcome } from './outcome.tsx'
import { ReplayTab } from './replay-tab.tsx'
import styles from './run.module.css'
import { RunFacts } from './run-facts.tsx'
import { runQuery } from './run-queries.ts'
import type { Step } from './steps.ts'
import { StepsTab } from './steps-tab.tsx'
import { useSearch } from './use-search.ts'

const route = getRouteApi('/runs/$runId')

const BackLink = ({ filters }: { filters: RunFilters }) => (
  <Link to="/runs" search={filters}>
    Runs
  </Link>
)

const LoadingRun = () => (
  <Loading className="stack">
    <Skeleton height="4.25rem" />
    <Skeleton height="2rem" />
    <Skeleton height="18rem" />
  </Loading>
)

/** A run and all its steps, which arrive page by page. */
const useRun = (runId: string) => {
  const { organizationId } = useSession()
  const query = useInfiniteQuery(runQuery(organizationId, runId))
  const { hasNextPage, isFetching, fetchNextPage } = query
  useEffect(() => {
    if (hasNextPage && !isFetching) void fetchNextPage()
  }, [hasNextPage, isFetching, fetchNextPage])
  const pages = query.data?.pages
  const steps = useMemo((): Step[] => pages?.flatMap((page) => page.steps) ?? [], [pages])
  const run = useMemo((): RunSummary | undefined => {
    const latest = pages?.at(-1)
    if (!latest) return undefined
    const { steps: _, next_after: __, ...summary } = latest
    return summary
  }, [pages])
  return { query, run, steps }
}

const copyCurl = async (url: string): Promise<void> => {
  try {
    await navigator.clipboard.writeText(asCurl({ url }, window.location.origin))
    notify('Copied as curl')
  } catch {
    notify('The browser does not allow copying', 'bad')
  }
}

/** Follows the typing at once, and the address a little later. */
const useWords = (inAddress: string, onCommit: (words: string) => void) => {
  const [words, setWords] = useState(inAddress)
  useEffect(() => {
    if (words === inAddress) return undefined
    const timer = setTimeout(() => onCommit(words), 250)
    return () => clearTimeout(timer)
  })
  return { words, setWords }
}

const countOf = (steps: number): string =>
  `${formatNumber(steps)} ${steps === 1 ? 'step' : 'steps'}`

const RunDetail = ({
  run,
  steps,
  isPartial,
}: {
  run: RunSummary
  steps: Step[]
  isPartial: boolean
}) => {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { tab = 'conversation', step, q = '' } = search
  const set = (change: object, replace = true) =>
    void navigate({ search: { ...search, ...change }, replace, resetScroll: false })
  const { words, setWords } = useWords(q, (text) => set({ q: text || undefined }))
  const { matches, isSearching } = useSearch(run, steps, q)
  const stepCount = steps.filter(({ kind }) => kind !== 'attempt' || run.attempts > 1).length
  const showStep = (id: string) => set({ tab: 'steps', step: id }, tab === 'steps')
  const stepsLabel = matches
    ? `Steps (${formatNumber(matches.size)} of ${formatNumber(stepCount)})`
    : `Steps (${formatNumber(stepCount)}${isPartial ? '+' : ''})`
  return (
    <>
      <Outcome run={run} steps={steps} onStep={showStep} />
      <RunFacts run={run} />
      <div className={styles.find}>
        <SearchField
          label="Search in this run"
          placeholder="Search texts, tools, agents"
          value={words}
          onChange={setWords}
        />
        <span className="soft small" role="status">
          {isSearching && 'Searching the texts'}
          {!isSearching && matches && countOf(matches.size)}
        </span>
      </div>
      <Tabs
        label="Run"
        selected={tab}
        onSelect={(id) => set({ tab: id === 'conversation' ? undefined : id }, false)}
        tabs={[
          {
            id: 'conversation',
            label: 'Conversation',
            content: (
              <Conversation
                run={run}
                words={q.trim().length > 1 ? q.trim().toLowerCase() : ''}
                onReplay={() => set({ tab: 'replay' }, false)}
              />
            ),
          },
          {
            id: 'steps',
            label: stepsLabel,
            content: (
              <StepsTab
                run={run}
                steps={steps}
                isPartial={isPartial}
                matches={matches}
                selected={step}
                onSelect={(id) => set({ step: id })}
              />
            ),
          },
          { id: 'charge', label: 'Charge', content: <ChargeTab run={run} /> },
          { id: 'replay', label: 'Replay', content: <ReplayTab run={run} steps={steps} /> },
          { id: 'json', label: 'JSON', content: <JsonTab run={run} steps={steps} /> },
        ]}
      />
    </>
  )
}

const RunPage = () => {
  const { organizationId, can, isPlatform } = useSession()
  const [isErasing, setErasing] = useState(false)
  const { runId } = route.useParams()
  const search = route.useSearch()
  const navigate = useNavigate()
  const filters = useMemo(() => filtersOf(search), [search])
  const { query, run, steps } = useRun(runId)
  const back = <BackLink filters={filters} />
  if (!run) {
    const isUnknown = query.error instanceof ApiError && query.error.status === 404
    return (
      <Page title="Run" back={back}>
        {isUnknown && (
          <EmptyState icon="search" title="There is no such run">
            Its ID may be incomplete, or it belongs to another organization.
          </EmptyState>
        )}
        {query.error && !isUnknown && (
          <FailedState error={query.error} onRetry={() => void query.refetch()} />
        )}
        {!query.error && <LoadingRun />}
      </Page>
    )
  }
  const { tab, q } = search
  const { session_id: sessionId, user_id: userId } = run
  const canErase = userId !== null && can('sessions:delete') && !isPlatform
  const linkSearch = { ...filters, ...(tab ? { tab } : {}), ...(q ? { q } : {}) }
  return (
    <Page
      title={run.agent_name}
      back={back}
      actions={
        <>
          <Neighbors runId={runId} filters={filters} search={linkSearch} />
          <Menu
            label="Run"
            trigger={<IconButton icon="more" label="More actions of the run" />}
            actions={[
              {
                id: 'compare',
                label: 'Compare with another run',
                icon: 'table',
                onAction: () => void navigate({ to: '/runs/compare', search: { a: runId } }),
              },
              {
                id: 'replay',
                label: 'Replay with changed instruction',
                icon: 'history',
                onAction: () =>
                  void navigate({
                    to: '/runs/$runId',
                    params: { runId },
                    search: { ...search, tab: 'replay' },
                  }),
              },
              {
                id: 'curl',
                label: 'Copy as curl',
                icon: 'copy',
                onAction: () =>
                  void copyCurl(`/api/admin/organizations/${organizationId}/runs/${runId}`),
              },
              ...(canErase
                ? [
                    {
                      id: 'erase',
                      label: 'Erase conversation…',
                      icon: 'trash' as const,
                      isDangerous: true,
                      onAction: () => setErasing(true),
                    },
                  ]
                : []),
            ]}
          />
        </>
      }
    >
      {query.error && <FailedState error={query.error} onRetry={() => void query.refetch()} />}
      <RunDetail
        key={runId}
        run={run}
        steps={steps}
        isPartial={query.hasNextPage || query.isFetchingNextPage}
      />
      {isErasing && userId !== null && (
        <EraseDialog sessionId={sessionId} userId={userId} onClose={() => setErasing(false)} />
      )}
    </Page>
  )
}

/** One run: its messages, steps, costs and failure. */
export const RunScreen = () => {
  const { can, isManager } = useSession()
  if (can('admin:read') && isManager) return <RunPage />
  return (
    <Page title="Run">
      <ForbiddenState
        what="the runs of the organization"
        message="It needs the scope admin:read and the role of an owner or admin."
      />
    </Page>
  )
}
