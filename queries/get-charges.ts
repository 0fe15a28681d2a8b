import { requestSession } from '../src/domain/content/events.ts'
import { reservationOf } from '../src/domain/content/reservation.ts'
import type { Position } from '../src/domain/event.ts'
import { refusal } from '../src/domain/refusal.ts'
import { type ModelTerm, termsOfRun } from '../src/domain/session/charge.ts'
import { amountAnswer, eventAnswer, termAnswer } from './charge-answer.ts'
import type { FindErasedRun } from './find-erased-run.ts'
import type { RunPlace } from './find-run-place.ts'
import type { FindSettlement, SearchBudget } from './find-settlement.ts'
import type { Attempt, ReadAttempts } from './read-attempts.ts'
import { endingOf, eventRef, type ReadRunCost, type RunEndEvent } from './read-run-cost.ts'

/** How many events one answer searches for settlements, and for a run that is in no view. */
const scanned = 10_000
/** How many generated items of a run an answer has. */
const mostContents = 200

type Uses = {
  readRunCost: ReadRunCost
  readAttempts: ReadAttempts
  findErasedRun: FindErasedRun
  findSettlement: FindSettlement
}

/** Of a run, with the items that it requested; or of one generated item. */
export type ChargesQuery = { organizationId: string } & (
  | { runId: string; place: RunPlace | undefined }
  | { contentId: string }
)

const statuses = {
  RunCompleted: 'completed',
  RunFailed: 'failed',
  RunCancelled: 'cancelled',
  RunTimedOut: 'timed_out',
} as const satisfies Record<RunEndEvent['type'], string>

type ChargeStatus = 'open' | (typeof statuses)[keyof typeof statuses]

const statusOf = ({ end }: Attempt): ChargeStatus => {
  if (!end) return 'open'
  return end.type === 'ContentCompleted' ? 'completed' : 'failed'
}

/** What answers of one organization share. */
type Search = { organizationId: string; budget: SearchBudget }

/**
 * What a run and its generated items cost, each charge with the terms that add up to it and their
 * events. @throws run_not_found, content_not_found
 */
export const getCharges = (uses: Uses) => {
  const { readRunCost, readAttempts, findErasedRun, findSettlement } = uses

  /** The settlement after the first of these positions that has one after it. */
  const settledBy = async (
    { organizationId, budget }: Search,
    id: string,
    after: readonly (Position | undefined)[],
  ) => {
    for (const position of after) {
      if (position === undefined) continue
      const settled = await findSettlement({ organizationId, id, after: position }, budget)
      if (settled)
        return { ...eventAnswer(eventRef(settled.event)), ...amountAnswer(settled.amount) }
    }
    return null
  }

  const runCharge = async (search: Search, runId: string, { sessionId, revision }: RunPlace) => {
    const { organizationId } = search
    const start = { organizationId, runId, sessionId, revision }
    const { started, answers, end } = await readRunCost(start)
    if (!started) throw refusal('run_not_found')
    const { payerId, agentId, limits } = started.data
    const terms = termsOfRun(answers, end && endingOf(end), limits?.charge)
    const sum = (of: (term: ModelTerm) => number) =>
      terms.reduce((all, term) => all + (term.kind === 'model' ? of(term) : 0), 0)
    const { promptTokens, completionTokens, charge } = end?.data ?? {
      promptTokens: sum((term) => term.promptTokens),
      completionTokens: sum((term) => term.completionTokens),
      charge: sum((term) => term.charge),
    }
    const status: ChargeStatus = end ? statuses[end.type] : 'open'
    return {
      kind: 'run' as const,
      reservation_id: runId,
      run_id: runId,
      session_id: sessionId,
      content_id: null,
      attempt: null,
      payer_user_id: payerId,
      agent_id: end?.data.agentId ?? agentId,
      status,
      code: end?.type === 'RunFailed' ? end.data.code : null,
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      ...amountAnswer(charge),
      terms: terms.map(termAnswer),
      started_by: eventAnswer(eventRef(started)),
      stated_by: end ? eventAnswer(eventRef(end)) : null,
      // Both are stored at once; the end comes mostly first.
      settled_by: await settledBy(search, runId, [end?.position, end && started.position]),
    }
  }

  /** One charge for each attempt; a failed one is free. */
  const contentCharges = async (search: Search, contentId: string) => {
    const generation = await readAttempts(search.organizationId, contentId)
    if (!generation) return []
    const { request, attempts } = generation

    const chargeOf = async (generated: Attempt) => {
      const { attempt, payerId, start, end } = generated
      const id = reservationOf(contentId, attempt)
      const amount = amountAnswer(end?.type === 'ContentCompleted' ? end.data.charge : 0)
      const sources = [request, ...(end ? [end] : [])]
      const term = {
        kind: 'generation' as const,
        content_type: request.data.requested,
        ...amount,
        sources: sources.map((event) => eventAnswer(eventRef(event))),
      }
      return {
        kind: 'generation' as const,
        reservation_id: id,
        run_id: request.data.runId ?? null,
        session_id: requestSession(request.data),
        content_id: contentId,
        attempt,
        payer_user_id: payerId,
        agent_id: null,
        status: statusOf(generated),
        code: null,
        prompt_tokens: 0,
        completion_tokens: 0,
        ...amount,
        terms: amount.micro_credits > 0 ? [term] : [],
        started_by: eventAnswer(eventRef(start)),
        stated_by: end ? eventAnswer(eventRef(end)) : null,
        settled_by: await settledBy(search, id, [end?.position]),
      }
    }

    const charges: Awaited<ReturnType<typeof chargeOf>>[] = []
    for (const attempt of attempts) charges.push(await chargeOf(attempt))
    return charges
  }

  type Charge =
    | Awaited<ReturnType<typeof runCharge>>
    | Awaited<ReturnType<typeof contentCharges>>[number]

  const sumUp = (charges: readonly Charge[], has_more: boolean) => ({
    ...amountAnswer(charges.reduce((sum, { micro_credits }) => sum + micro_credits, 0)),
    charges: [...charges],
    has_more,
  })

  return async (query: ChargesQuery) => {
    const { organizationId } = query
    const search: Search = { organizationId, budget: { left: scanned } }
    if ('contentId' in query) {
      const charges = await contentCharges(search, query.contentId)
      if (charges.length === 0) throw refusal('content_not_found')
      return sumUp(charges, false)
    }
    const { runId } = query
    const place = query.place ?? (await findErasedRun(organizationId, runId, search.budget))
    if (!place) throw refusal('run_not_found')
    const charges: Charge[] = [await runCharge(search, runId, place)]
    for (const contentId of place.contentIds.slice(0, mostContents))
      charges.push(...(await contentCharges(search, contentId)))
    return sumUp(charges, place.contentIds.length > mostContents)
  }
}
export type GetCharges = ReturnType<typeof getCharges>
