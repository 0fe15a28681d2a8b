import type { Observable, Subscription } from 'rxjs'
import { TurnTimeout } from '../agents/agent.ts'
import type { AgentEvent, TurnDone } from '../agents/agent-event.ts'
import { tokenMeter } from '../agents/token-meter.ts'
import { type Refusal, refusal } from '../domain/refusal.ts'
import type { SessionEvent } from '../domain/session/events.ts'
import { AppendTooLarge } from '../ports/event-store.ts'
import { deferred } from '../support/deferred.ts'
import { causeOf, failureCode } from './failure-code.ts'
import type { TurnLog } from './turn-log.ts'

/** How the agents' part of a turn ended. `done` holds the answer and the usage until then. */
export type Driven = { done: TurnDone } & (
  | { ended: 'done' | 'cancelled'; refusal?: never }
  | { ended: 'failed' | 'timed_out'; refusal: Refusal; cause?: string | undefined }
)

type Uses = {
  log: TurnLog
  /** The event that is stored for it, if any. */
  stepOf(event: AgentEvent): SessionEvent | undefined
  /**
   * Stores steps while the turn runs; the last ones are not given to it but are in `ended`. A step
   * that cannot be stored at all (AppendTooLarge) fails the turn.
   */
  record(steps: readonly SessionEvent[]): Promise<unknown>
  /** The name that stands in `done` when no agent answered. */
  agent: string
  onFault(error: unknown): void
  /** Told every event. */
  watch?: { see(event: AgentEvent): void } | undefined
}

/** Steps of a running turn are stored after this long, so that its status can be read. */
const recordAfterMs = 250

/**
 * Subscribes once to a turn's events for all who need them: the log that clients follow, the
 * recorder and the usage meter. `done` is not logged: clients are sent the end
 * once it is stored. Unsubscribing from the agents tears down every branch.
 */
export const drive = (events: Observable<AgentEvent>, uses: Uses) => {
  const { log, stepOf, record, agent, onFault, watch } = uses
  const meter = tokenMeter()
  const result = deferred<Driven>()
  const steps: SessionEvent[] = []
  let recording: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let text = ''
  let finished: TurnDone | undefined
  let unstorable: Driven | undefined
  let running: Subscription | undefined

  const soFar = (): TurnDone => ({
    event: 'done',
    text,
    agent,
    finish_reason: 'stop',
    ...meter.total(),
  })

  const flush = () => {
    timer = undefined
    const now = steps.splice(0)
    recording = recording
      .then(() => record(now))
      .catch((error: unknown) => {
        onFault(error)
        if (!(error instanceof AppendTooLarge)) return
        running?.unsubscribe()
        unstorable = { ended: 'failed', done: soFar(), refusal: refusal('orchestrator_error') }
        result.resolve(unstorable)
      })
  }

  const note = (step: SessionEvent): void => {
    steps.push(step)
    timer ??= setTimeout(flush, recordAfterMs)
  }

  running = events.subscribe({
    next: (event) => {
      meter.see(event)
      watch?.see(event)
      if (event.event === 'token') text += event.text
      const step = stepOf(event)
      if (step) note(step)
      if (event.event === 'done') finished = event
      else log.push(event)
    },
    error: (error: unknown) => {
      onFault(error)
      result.resolve({
        ended: error instanceof TurnTimeout ? 'timed_out' : 'failed',
        done: soFar(),
        refusal: refusal(failureCode(error)),
        cause: causeOf(error),
      })
    },
    complete: () =>
      result.resolve(
        finished
          ? { ended: 'done', done: finished }
          : { ended: 'failed', done: soFar(), refusal: refusal('orchestrator_error') },
      ),
  })

  return {
    /** How it ended, with the steps that are not stored yet. */
    ended: result.promise.then(async (driven) => {
      clearTimeout(timer)
      await recording
      return { ...(unstorable ?? driven), steps }
    }),
    cancel(): void {
      running?.unsubscribe()
      result.resolve({ ended: 'cancelled', done: soFar() })
    },
  }
}
