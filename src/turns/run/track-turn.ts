import type { Observer } from 'rxjs'
import { Refusal, refusal } from '../../domain/refusal.ts'
import { EventMisfit } from '../../event-sourcing/check-events.ts'
import type { Log } from '../../ports/log.ts'
import { type Deferred, deferred } from '../../support/deferred.ts'
import { failureCode } from '../failure-code.ts'
import { isAnswered, type LiveTurn, type Outcome, refusalOf } from '../turn.ts'
import { failedItem, type TurnItems, turnItems } from '../turn-items.ts'
import type { Driving } from './drive.ts'
import type { LiveTurns, Retention } from './live-turns.ts'
import type { RunPlace } from './run-places.ts'

type Tracked = {
  about: Pick<
    LiveTurn,
    'runId' | 'sessionId' | 'organizationId' | 'agentId' | 'created' | 'requester' | 'echo'
  >
  /** Its session's name. */
  session: string
  requestId(): string
  keep: Retention
}

/** A turn under way: its items, and what stops it. */
export type Control = {
  turn: LiveTurn
  items: TurnItems
  started: Deferred<LiveTurn>
  cancelled: boolean
  /** Set while its agents run. */
  driving: Pick<Driving, 'cancel' | 'handOver'> | undefined
  /** Set while it waits or runs. */
  place: Pick<RunPlace, 'abandon'> | undefined
  /** Nothing stops an ended turn. */
  over: boolean
}

type Uses = {
  live: Pick<LiveTurns, 'enlist' | 'retire'>
  resumable: Pick<Observer<string>, 'next'>
  log: Pick<Log, 'error'>
}

const nothing = () => undefined

/**
 * A turn as others have it. It is kept after its end, so it leads to nothing that ran it: hence a
 * function of its own, as closures hold all that others of the same function use.
 */
const turnOf = (
  { runId, sessionId, organizationId, agentId, created, requester, echo }: Tracked['about'],
  control: Omit<Control, 'turn'>,
  outcome: Promise<Outcome>,
): LiveTurn => ({
  runId,
  sessionId,
  organizationId,
  agentId,
  created,
  requester,
  echo,
  items: control.items,
  started: control.started.promise,
  outcome,
  cancel() {
    if (control.over) return
    control.cancelled = true
    control.driving?.cancel()
    control.place?.abandon()
  },
  isCancelled: () => control.cancelled,
  handOver() {
    control.driving?.handOver()
    control.place?.abandon()
  },
})

const newControl = (about: Tracked['about'], outcome: Promise<Outcome>): Control => {
  const control: Omit<Control, 'turn'> = {
    items: turnItems(),
    started: deferred<LiveTurn>(),
    cancelled: false,
    driving: undefined,
    place: undefined,
    over: false,
  }
  return Object.assign(control, { turn: turnOf(about, control, outcome) })
}

/** The message of a turn is stored, or its run is resumed: `started` resolves. */
export const announceStart = (
  { turn, started }: Control,
  start: Pick<LiveTurn, 'beginning' | 'queued' | 'attempt'>,
): void => {
  Object.assign(turn, start)
  started.resolve(turn)
}

/** Follows a turn to its end, for all who ask for it. `outcome` never rejects. */
export const trackTurn = ({ live, resumable, log }: Uses) => {
  const failure = (error: unknown, { about, requestId }: Tracked): Outcome => {
    if (error instanceof Refusal) return { status: 'failed', refusal: error }
    const fields = { err: error, reqId: requestId(), run_id: about.runId }
    log.error(fields, 'a turn could not be stored')
    const code = error instanceof EventMisfit ? failureCode(error) : 'service_unavailable'
    return { status: 'failed', refusal: refusal(code), stored: false }
  }

  /** Tells the clients how the turn ended, and lets go of what ran it. */
  const close = (control: Control, { session, keep }: Tracked, outcome: Outcome): void => {
    const { turn, items } = control
    if (isAnswered(outcome)) items.push(outcome.done)
    else items.push(failedItem(refusalOf(outcome)))
    items.close()
    control.over = true
    control.driving = undefined
    control.place = undefined
    const isOver = outcome.status !== 'paused' && !('stored' in outcome)
    live.retire(session, turn, isOver && keep)
    if (outcome.status === 'paused' && outcome.goesOn) resumable.next(turn.runId)
  }

  const outcomeOf = async (
    control: Control,
    tracked: Tracked,
    run: (control: Control) => Promise<Outcome>,
  ): Promise<Outcome> => {
    try {
      return await run(control)
    } catch (error) {
      control.started.promise.catch(nothing)
      control.started.reject(error)
      return failure(error, tracked)
    }
  }

  return (tracked: Tracked, run: (control: Control) => Promise<Outcome>): LiveTurn => {
    const ending = deferred<Outcome>()
    const control = newControl(tracked.about, ending.promise)
    live.enlist(tracked.session, control.turn)
    void outcomeOf(control, tracked, run).then((outcome) => {
      close(control, tracked, outcome)
      ending.resolve(outcome)
    })
    return control.turn
  }
}
