import type { Observable, Subscription } from 'rxjs'
import { LimitReached, Paused, TurnTimeout } from '../../agents/agent.ts'
import type {
  AgentEvent,
  ApprovalRequired,
  ToolInDoubt,
  TurnDone,
} from '../../agents/agent-event.ts'
import type { TokenMeter } from '../../agents/token-meter.ts'
import { type Refusal, refusal } from '../../domain/refusal.ts'
import type { ReachedLimit } from '../../domain/run-limits.ts'
import type { SessionEvent } from '../../domain/session/events.ts'
import { isUnstorable } from '../../event-sourcing/check-events.ts'
import { deferred } from '../../support/deferred.ts'
import type { StepWriter } from '../record/step-writer.ts'
import { RunLost } from '../record/step-writer.ts'
import { causeOf, failureCode } from './failure-code.ts'
import type { TurnLog } from './turn-log.ts'

/**
 * How the agents' part of a turn ended. `done` holds the answer and the usage until then,
 * `firstTokenMs` how long the first token took.
 */
export type Driven = { done: TurnDone; firstTokenMs?: number } & (
  | { ended: 'done' | 'cancelled'; refusal?: never }
  /**
   * It waits for decisions on these calls, or their outcomes, and is resumed in another attempt.
   */
  | {
      ended: 'paused'
      approvals: readonly ApprovalRequired[]
      inDoubt: readonly ToolInDoubt[]
      refusal?: never
    }
  | { ended: 'failed' | 'timed_out'; refusal: Refusal; cause?: string | undefined }
  /** It has reached a limit of its agent: its text so far is stored and charged. */
  | { ended: 'limited'; refusal: Refusal; limit: ReachedLimit }
  /** Another process resumes it; once it is lost, nothing of it is stored here. */
  | { ended: 'lost' | 'handed_over'; refusal: Refusal }
)

type DriveResult = Driven & { steps: readonly SessionEvent[] }

type Uses = {
  log: TurnLog
  /** Stores steps while the turn runs; the last ones are in `ended`. */
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
 * Subscribes once to a turn's events, for the log that clients follow and for the step writer.
 * `done` and calls that wait are logged later, once they are stored. Unsubscribing from the agents
 * tears down every branch.
 */
export const drive = (events: Observable<AgentEvent>, uses: Uses) => {
  const { log, writer, meter, agent, onFault, elapsed, watch } = uses
  const approvals: ApprovalRequired[] = []
  const inDoubt: ToolInDoubt[] = []
  let text = ''
  let firstTokenMs: number | undefined
  let finished: TurnDone | undefined
  let final: Driven | undefined
  let running: Subscription | undefined
  const outcome = deferred<Driven>()
  const settle = outcome.resolve

  const soFar = (): TurnDone => ({
    event: 'done',
    text,
    agent,
    finish_reason: 'stop',
    ...meter.total(),
  })

  const doneWithAnswers = (): TurnDone => ({ ...soFar(), ...meter.answered() })

  const stop = (driven: Driven): void => {
    running?.unsubscribe()
    settle(driven)
  }

  const stopAnyway = (driven: Driven): void => {
    final ??= driven
    stop(driven)
  }

  // A step that cannot be stored at all fails the turn, and a run of another process stops here.
  // All other failures of writes may pass.
  writer.onFailure((error) => {
    onFault(error)
    if (error instanceof RunLost)
      stopAnyway({ ended: 'lost', done: soFar(), refusal: refusal('service_unavailable') })
    if (isUnstorable(error))
      stopAnyway({ ended: 'failed', done: doneWithAnswers(), refusal: refusal(failureCode(error)) })
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
      else log.push(withoutTexts(event))
    },
    error: (error: unknown) => {
      if (error instanceof Paused) {
        const done = inDoubt.length > 0 ? { ...soFar(), in_doubt: true as const } : soFar()
        settle({ ended: 'paused', done, approvals, inDoubt })
        return
      }
      if (error instanceof LimitReached) {
        const refused = refusal('run_limit_reached', { message: error.message })
        const { reached: limit } = error
        settle({ ended: 'limited', done: soFar(), refusal: refused, limit })
        return
      }
      onFault(error)
      settle({
        ended: error instanceof TurnTimeout ? 'timed_out' : 'failed',
        done: doneWithAnswers(),
        refusal: refusal(failureCode(error)),
        cause: causeOf(error),
      })
    },
    complete: () =>
      settle(
        finished
          ? { ended: 'done', done: finished }
          : { ended: 'failed', done: doneWithAnswers(), refusal: refusal('orchestrator_error') },
      ),
  })

  if (!running.closed) writer.keepUp()

  return {
    /** How it ended, with the steps that are not stored yet. */
    async ended(): Promise<DriveResult> {
      const driven = await outcome.promise
      const steps = await writer.rest(driven.ended === 'done')
      const result = { steps, ...(final ?? driven) }
      return firstTokenMs === undefined ? result : { ...result, firstTokenMs }
    },
    cancel(): void {
      stop({ ended: 'cancelled', done: soFar() })
    },
    /** Stops it, for another process to resume. */
    handOver(): void {
      stop({ ended: 'handed_over', done: soFar(), refusal: refusal('service_unavailable') })
    },
  }
}

export type Driving = ReturnType<typeof drive>
