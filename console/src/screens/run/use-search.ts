import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useSession } from '../../session/session.ts'
import type { RunSummary } from '../runs/runs-queries.ts'
import { isOfStep, type RunEvent, runEventsQuery } from './run-queries.ts'
import { type Step, stepContains } from './steps.ts'

const shortest = 2

/** The steps whose events contain the words in any text. */
const stepsSaying = (
  events: readonly RunEvent[],
  steps: readonly Step[],
  words: string,
): string[] => {
  const saying = events.filter(({ data }) => JSON.stringify(data).toLowerCase().includes(words))
  if (saying.length === 0) return []
  const byPlace = new Map<string, RunEvent[]>()
  for (const event of saying) {
    const { at, approvalId } = event.data
    for (const place of [approvalId ?? at, at === undefined ? undefined : `${at}/1`])
      if (place !== undefined) byPlace.set(place, [...(byPlace.get(place) ?? []), event])
  }
  return steps
    .filter((step) => byPlace.get(step.step_id)?.some(isOfStep(step)))
    .map(({ step_id }) => step_id)
}

type SearchResult = { matches: ReadonlySet<string> | undefined; isSearching: boolean }

/** The steps that contain words in their names, arguments, results and answers. */
export const useSearch = (
  run: RunSummary | undefined,
  steps: readonly Step[],
  query: string,
): SearchResult => {
  const { organizationId } = useSession()
  const words = query.trim().toLowerCase()
  const isActive = words.length >= shortest
  const empty = { run_id: '', status: 'completed' } as RunSummary
  const events = useQuery({
    ...runEventsQuery(organizationId, run ?? empty),
    enabled: isActive && run !== undefined,
  })
  const matches = useMemo(() => {
    if (!isActive) return undefined
    return new Set([
      ...steps.filter((step) => stepContains(step, words)).map(({ step_id }) => step_id),
      ...stepsSaying(events.data ?? [], steps, words),
    ])
  }, [isActive, steps, words, events.data])
  return { matches, isSearching: isActive && events.isFetching }
}
