import type { Observable, Subscription } from 'rxjs'
import { LimitReached, Paused, TurnTimeout } from '../../agents/agent.ts'
import type {
  AgentEvent,
  ApprovalRequired,
  ToolInDoubt,
  TurnDone,
} from '../../agents/agent-event.ts'
import type { TokenMeter } from '../../agents/token-meter.ts'
import { refusal } from '../../domain/refusal.ts'
import { isUnstorable } from '../../event-sourcing/check-events.ts'
import { deferred } from '../../support/deferred.ts'
import { causeOf, failureCode } from '../failure-code.ts'
import type { AgentResult, RunResult } from '../record/run-result.ts'
import { RunLost, type StepWriter } from '../record/step-writer.ts'
import type { TurnItems } from '../turn-items.ts'

type Uses = {
  items: TurnItems
  /** Stores steps while the turn runs; the last ones are in `result`. */
  writer: Pick<StepWriter, 'note' | 'rest' | 'keepUp' | 'onFailure'>
  /** Sees the events before they come here. */
  meter: Pick<TokenMeter, 'total' | 'answered'>
  /** The name that stands in `done` when no agent answered. */
  agent: string
  onFault(error: unknown): void
  /** Milliseconds since the run began; absent after the first attempt: no token is timed. */
  elapsed?: (() => number) | undefined
  /** Sees every event once in all attempts. */
  watch?: { see(event: AgentEvent): void } | undefined
}

/** An event for clients that follow the turn: texts of answers and results are elsewhere. */
const withoutTexts = (event: AgentEvent): AgentEvent => {
  if (event.event === 'model_answered') return { ...event, text: '', calls: [] }
  return event.event === 'tool_completed' ? { ...event, content: '' } : event
}

/**
 * Subscribes once to a turn's events, for the items that clients follow and for the step writer.
 * `done` and calls that wait become items later, once they are stored. Unsubscribing from the
 * agents tears down every branch.
 */
export const drive = (events: Observable<AgentEvent>, uses: Uses) => {
  const { items, writer, meter, agent, onFault, elapsed, watch } = uses
  const approvals: ApprovalRequired[] = []
  const inDoubt: ToolInDoubt[] = []
  let text = ''
  let firstTokenMs: number | undefined
  let finished: TurnDone | undefined
  let final: AgentResult | undefined
  let running: Subscription | undefined
  const stopped = deferred<AgentResult>()
  const settle = stopped.resolve

  const soFar = (): TurnDone => ({
    event: 'done',
    text,
    agent,
    finish_reason: 'stop',
    ...meter.total(),
  })

  const doneWithAnswers = (): TurnDone => ({ ...soFar(), ...meter.answered() })

  const stop = (result: AgentResult): void => {
    running?.unsubscribe()
    settle(result)
  }

  const stopAnyway = (result: AgentResult): void => {
    final ??= result
    stop(result)
  }

  // A step that cannot be stored at all fails the turn, and a run of another process stops here.
  // All other failures of writes may pass.
  writer.onFailure((error) => {
    onFault(error)
    if (error instanceof RunLost)
      stopAnyway({ status: 'lost', done: soFar(), refusal: refusal('service_unavailable') })
    if (isUnstorable(error))
      stopAnyway({
        status: 'failed',
        done: doneWithAnswers(),
        refusal: refusal(failureCode(error)),
      })
  })

  running = events.subscribe({
    next: (event) => {
      if (!('replayed' in event)) watch?.see(event)
      if (event.event === 'token') {
        text += event.text
        firstTokenMs ??= elapsed?.()
      }
      writer.note(event)
      if (event.event === 'approval_required') approvals.push(event)
      else if (event.event === 'tool_in_doubt') inDoubt.push(event)
      else if (event.event === 'done') finished = event
      else items.push(withoutTexts(event))
    },
    error: (error: unknown) => {
      if (error instanceof Paused) {
        const done = inDoubt.length > 0 ? { ...soFar(), in_doubt: true as const } : soFar()
        settle({ status: 'paused', done, approvals, inDoubt })
        return
      }
      if (error instanceof LimitReached) {
        const refused = refusal('run_limit_reached', { message: error.message })
        const { reached: limit } = error
        settle({ status: 'limited', done: soFar(), refusal: refused, limit })
        return
      }
      onFault(error)
      settle({
        status: error instanceof TurnTimeout ? 'timed_out' : 'failed',
        done: doneWithAnswers(),
        refusal: refusal(failureCode(error)),
        cause: causeOf(error),
      })
    },
    complete: () =>
      settle(
        finished
          ? { status: 'done', done: finished }
          : { status: 'failed', done: doneWithAnswers(), refusal: refusal('orchestrator_error') },
      ),
  })

  if (!running.closed) writer.keepUp()

  return {
    /** How it ended, with the steps that are not stored yet. */
    async result(): Promise<RunResult> {
      const agentResult = await stopped.promise
      const steps = await writer.rest({ answerIsMessage: agentResult.status === 'done' })
      const result = { steps, ...(final ?? agentResult) }
      return firstTokenMs === undefined ? result : { ...result, firstTokenMs }
    },
    cancel(): void {
      stop({ status: 'cancelled', done: soFar() })
    },
    /** Stops it, for another process to resume. */
    handOver(): void {
      stop({ status: 'handed_over', done: soFar(), refusal: refusal('service_unavailable') })
    },
  }
}

export type Driving = ReturnType<typeof drive>
