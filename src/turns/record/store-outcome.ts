import type { EndRunCommand } from '../../../commands/end-run.ts'
import type { PauseRunCommand } from '../../../commands/pause-run.ts'
import type { RecordStepsCommand } from '../../../commands/record-steps.ts'
import { noUsage } from '../../agents/token-meter.ts'
import { type Refusal, refusal } from '../../domain/refusal.ts'
import type { SessionEvent } from '../../domain/session/events.ts'
import type { RunOwner } from '../../domain/session/running.ts'
import { EventMisfit, isUnstorable } from '../../event-sourcing/check-events.ts'
import { following } from '../../ports/call.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { WaitForPosition } from '../../ports/views.ts'
import type { Keyed } from '../../security/vault.ts'
import { unixSeconds } from '../../support/iso-time.ts'
import { failureCode } from '../failure-code.ts'
import type { Outcome, TurnRequest } from '../turn.ts'
import type { TurnItems } from '../turn-items.ts'
import { answerEvents, costOf, endOf, limitEvent } from './run-end.ts'
import { pauseOf, pendingOf } from './run-pause.ts'
import type { RunResult } from './run-result.ts'

export type StoreOutcomeUses = {
  recordSteps: RecordStepsCommand
  endRun: EndRunCommand
  pauseRun: PauseRunCommand
  clock: Clock
  waitForPosition: WaitForPosition
  /** A call waits for an approval until then. */
  watchApproval?: ((expiresAt: string) => void) | undefined
  log: Pick<Log, 'error'>
}

/** The run whose end, pause or hand-over is stored. */
export type StoredRun = {
  request: TurnRequest
  runId: string
  key: Keyed
  owner: RunOwner
  /** Its answer was stored in an earlier attempt. */
  isAnswered: boolean
  /** How many milliseconds it has taken. */
  elapsed(): number
  /** Of its clients. */
  items: Pick<TurnItems, 'push'>
}

/** It is over here alone: another process has the run, or has ended it. */
const lost = (code: Refusal['code']): Outcome => ({
  status: 'failed',
  refusal: refusal(code),
  stored: false,
})

/** Stores how a run stopped; resolves with what its clients are told, once the views show it. */
export const storeOutcome = (uses: StoreOutcomeUses) => {
  const { recordSteps, endRun, pauseRun, clock, waitForPosition } = uses

  const callOf = ({ request, runId }: StoredRun) => following(request.call, runId)

  const end = (run: StoredRun, result: RunResult) => {
    const { request, runId, key, owner } = run
    const { sessionId, payerId } = request
    const { done, status, state } = result
    const durationMs = run.elapsed()
    const isKept = status === 'cancelled' || status === 'limited'
    const hasAnswer = status === 'done' || (isKept && done.text !== '')
    const steps = [...result.steps]
    const limit = limitEvent(runId, result)
    if (limit) steps.push(limit)
    if (hasAnswer && !run.isAnswered)
      steps.push(...answerEvents({ runId, messageId: clock.id(), done, state }, key))
    const last = endOf(request, runId, result, durationMs)
    return endRun({ sessionId, payerId, steps, end: last, owner }, callOf(run))
  }

  /**
   * A run whose steps, answer or end cannot be stored fails instead; a usage that does not fit is
   * not counted.
   */
  const instead = (run: StoredRun, result: RunResult, err: unknown): RunResult => {
    if (!isUnstorable(err)) throw err
    const { requestId: reqId } = run.request.call
    uses.log.error({ err, reqId, run_id: run.runId }, 'a run cannot be stored')
    const { usage } = err instanceof EventMisfit ? { usage: noUsage } : result.done
    const done = { ...result.done, usage, charges: [] }
    return { status: 'failed', done, refusal: refusal(failureCode(err)), steps: [] }
  }

  const storeEnd = async (run: StoredRun, agentResult: RunResult): Promise<Outcome> => {
    let result = agentResult
    let stored: Awaited<ReturnType<typeof end>>
    try {
      stored = await end(run, result)
    } catch (error) {
      result = instead(run, result, error)
      stored = await end(run, result)
    }
    if (stored.lost) return lost('service_unavailable')
    if (!stored.ended) return lost('llm_service_timeout')
    await waitForPosition(stored.position)
    const { done } = result
    if (result.status === 'done') return { status: 'completed', done, at: unixSeconds(stored.at) }
    if (result.status === 'cancelled') return { status: 'cancelled', done }
    return { status: 'failed', refusal: result.refusal ?? refusal('orchestrator_error') }
  }

  /** One that waits for decisions; it has failed where its pause cannot be stored. */
  const storePause = async (
    run: StoredRun,
    result: RunResult & { status: 'paused' },
  ): Promise<Outcome> => {
    const { request, runId, key, owner, items } = run
    const { approvals, inDoubt, done, steps } = result
    const cost = costOf(request, result)
    try {
      const pause = pauseOf({ runId, approvals, inDoubt, done, cost }, key)
      const pausing = { sessionId: request.sessionId, owner, steps, ...pause }
      const stored = await pauseRun(pausing, callOf(run))
      if (!stored.paused) return lost('service_unavailable')
      await waitForPosition(stored.position)
      for (const approval of approvals) {
        items.push(approval)
        uses.watchApproval?.(approval.expires_at)
      }
      const pending = approvals.map(pendingOf)
      return { status: 'paused', goesOn: stored.goesOn, done: { ...done, pending } }
    } catch (err) {
      return await storeEnd(run, instead(run, result, err))
    }
  }

  /** For a run that another process owns or will resume. */
  const storeHandover = async (
    run: StoredRun,
    result: RunResult & { status: 'lost' | 'handed_over' },
  ): Promise<Outcome> => {
    if (result.status === 'handed_over') {
      const { request, runId, owner } = run
      const handed = { type: 'RunHandedOver', data: { runId, node: owner.node } } as const
      const record = (steps: readonly SessionEvent[]) =>
        recordSteps({ sessionId: request.sessionId, runId, steps, owner }, callOf(run))
      await record([...result.steps, handed]).catch((err: unknown) => {
        // The next attempt repeats these steps.
        if (!isUnstorable(err)) throw err
        return record([handed])
      })
    }
    return { status: 'failed', refusal: result.refusal, stored: false }
  }

  return (run: StoredRun, result: RunResult): Promise<Outcome> => {
    if (result.status === 'lost' || result.status === 'handed_over')
      return storeHandover(run, result)
    return result.status === 'paused' ? storePause(run, result) : storeEnd(run, result)
  }
}
