import type { z } from 'zod'
import { msBetween } from '../projections/fields.ts'
import { type RunStepView, type runStep, runStepOf } from '../projections/run-steps.ts'
import { type RunSummaryView, runSummaryOf } from '../projections/run-summaries.ts'
import { refusal } from '../src/domain/refusal.ts'
import type { View } from '../src/ports/views.ts'

type Uses = {
  runSummaries: Pick<View<RunSummaryView>, 'get'>
  runSteps: Pick<View<RunStepView>, 'find'>
}

export type RunQuery = {
  organizationId: string
  runId: string
  /** Continue after this step (`next_after`). */
  after: number
  limit: number
}

type Step = { revision: number; step: z.infer<typeof runStep> }

/** A step that was open when its run ended has ended with it. */
const closeStep = ({ status, ended_at }: RunSummaryView, step: RunStepView): RunStepView => {
  const isOpen = step.status === 'running' && ended_at !== null
  const isEnd = status !== 'queued' && status !== 'awaiting_approval' && status !== 'in_doubt'
  return isOpen && isEnd
    ? { ...step, status, duration_ms: msBetween(step.started_at, ended_at) }
    : step
}

const attemptsOf = ({ latest_attempts, agent_name }: RunSummaryView): Step[] =>
  latest_attempts.map(({ attempt, revision, started_at, ended_at, status }) => ({
    revision,
    step: {
      step_id: `attempt-${attempt}`,
      parent_id: null,
      kind: 'attempt',
      name: `Attempt ${attempt}`,
      agent_name,
      started_at,
      duration_ms: ended_at === null ? null : msBetween(started_at, ended_at),
      status,
      tokens: null,
      charge: null,
    },
  }))

/**
 * One run with its steps in the order in which they were recorded. @throws run_not_found
 */
export const getRun =
  ({ runSummaries, runSteps }: Uses) =>
  async ({ organizationId, runId, after, limit }: RunQuery) => {
    const run = await runSummaries.get(runId)
    if (run?.organization_id !== organizationId) throw refusal('run_not_found')
    const { items } = await runSteps.find({
      index: 'by_run',
      equals: [organizationId, runId],
      from: after + 1,
      limit: limit + 1,
      total: 1,
    })
    const recorded = items.map((view) => ({
      revision: view.revision,
      step: runStepOf(closeStep(run, view)),
    }))
    const attempts = attemptsOf(run).filter(({ revision }) => revision > after)
    const steps = [...recorded, ...attempts]
      .toSorted((left, right) => left.revision - right.revision)
      .slice(0, limit + 1)
    const page = steps.slice(0, limit)
    return {
      ...runSummaryOf(run),
      steps: page.map(({ step }) => step),
      next_after: steps.length > limit ? (page.at(-1)?.revision ?? null) : null,
    }
  }
export type GetRun = ReturnType<typeof getRun>
