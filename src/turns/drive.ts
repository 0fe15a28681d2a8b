import { connectable, type Observable, Subject } from 'rxjs'
import { TurnTimeout } from '../agents/agent.ts'
import type { AgentEvent, TurnDone } from '../agents/agent-event.ts'
import { tokenMeter } from '../agents/token-meter.ts'
import { type Refusal, refusal } from '../domain/refusal.ts'
import type { SessionEvent } from '../domain/session/events.ts'
import { AppendTooLarge } from '../ports/event-store.ts'
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
}

/** Steps of a running turn are stored after this long, so that its status can be read. */
const recordAfterMs = 250

/**
 * Subscribes once to a turn's events for all who need them: the log that clients follow, the
 * recorder and the usage meter, each on its own. `done` is not logged: clients are sent the end
 * once it is stored. Unsubscribing from the agents tears down every branch.
 */
export const drive = (events: Observable<AgentEvent>, uses: Uses) => {
  const { log, stepOf, record, agent, onFault } = uses
  const shared = connectable(events, { connector: () => new Subject(), resetOnDisconnect: false })
  const meter = tokenMeter()
  const ending = new Subject<Driven>()
  const steps: SessionEvent[] = []
  let recording: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let text = ''
  let finished: TurnDone | undefined
  let unstorable: Driven | undefined

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
        connection.unsubscribe()
        unstorable = { ended: 'failed', done: soFar(), refusal: refusal('orchestrator_error') }
        ending.next(unstorable)
      })
  }

  shared.subscribe({ next: meter.see, error: () => undefined })
  shared.subscribe({
    next: (event) => {
      if (event.event === 'token') text += event.text
      const step = stepOf(event)
      if (!step) return
      steps.push(step)
      timer ??= setTimeout(flush, recordAfterMs)
    },
    error: () => undefined,
  })
  shared.subscribe({
    next: (event) => {
      if (event.event === 'done') finished = event
      else log.push(event)
    },
    error: (error: unknown) => {
      onFault(error)
      const ended = error instanceof TurnTimeout ? 'timed_out' : 'failed'
      ending.next({
        ended,
        done: soFar(),
        refusal: refusal(failureCode(error)),
        cause: causeOf(error),
      })
    },
    complete: () =>
      ending.next(
        finished
          ? { ended: 'done', done: finished }
          : { ended: 'failed', done: soFar(), refusal: refusal('orchestrator_error') },
      ),
  })

  const result = new Promise<Driven>((resolve) => ending.subscribe(resolve))
  const connection = shared.connect()

  return {
    /** How it ended, with the steps that are not stored yet. */
    ended: result.then(async (driven) => {
      clearTimeout(timer)
      await recording
      return { ...(unstorable ?? driven), steps }
    }),
    cancel(): void {
      connection.unsubscribe()
      ending.next({ ended: 'cancelled', done: soFar() })
    },
  }
}
