import { Refusal, refusal } from '../../domain/refusal.ts'
import { EventMisfit } from '../../event-sourcing/check-events.ts'
import type { Log } from '../../ports/log.ts'
import { type Deferred, deferred } from '../../support/deferred.ts'
import { isAnswered, type LiveTurn, type Outcome, refusalOf } from '../turn.ts'
import type { Driving } from './drive.ts'
import { failureCode } from './failure-code.ts'
import type { Kept, LiveTurns } from './live-turns.ts'
import type { RunPlace } from './run-places.ts'
import { failedItem, type TurnLog, turnLog } from './turn-log.ts'

type Tracked = {
  about: Pick<
    LiveTurn,
    'runId' | 'sessionId' | 'organizationId' | 'agentId' | 'created' | 'askedBy' | 'echo'
  >
  /** Its session's name. */
  session: string
  requestId(): string
  keep: Kept
}

/** What a turn under way is given, and what stops it. */
export type Control = {
  log: TurnLog
  started: Deferred<LiveTurn>
  cancelled: boolean
  /** Set while its agents run. */
  driving: Pick<Driving, 'cancel' | 'handOver'> | undefined
  /** Set while it waits or runs. */
  place: Pick<RunPlace, 'abandon'> | undefined
  /** It has ended: nothing stops it any more. */
  over: boolean
}

type Uses = {
  live: Pick<LiveTurns, 'enlist' | 'retire'>
  /** A turn stopped to wait for something that is there by now: it is to go on. */
  ready(runId: string): Promise<void>
  log: Pick<Log, 'error'>
}

const nothing = () => undefined

/**
 * A turn as others have it. It is kept after its end, so it leads to nothing that ran it: hence a
 * function of its own, as closures hold all that others of the same function use.
 */
const turnOf = (
  { runId, sessionId, organizationId, agentId, created, askedBy, echo }: Tracked['about'],
  control: Control,
  outcome: Promise<Outcome>,
): LiveTurn => ({
  runId,
  sessionId,
  organizationId,
  agentId,
  created,
  askedBy,
  echo,
  log: control.log,
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

/**
 * Follows a turn from its place in the line to its end, for all who ask for it. `outcome` never
 * rejects.
 */
export const trackedTurn = ({ live, ready, log: logger }: Uses) => {
  const failure = (error: unknown, { about, requestId }: Tracked): Outcome => {
    if (error instanceof Refusal) return { status: 'failed', refusal: error }
    const fields = { err: error, reqId: requestId(), run_id: about.runId }
    logger.error(fields, 'a turn could not be stored')
    const code = error instanceof EventMisfit ? failureCode(error) : 'service_unavailable'
    return { status: 'failed', refusal: refusal(code), stored: false }
  }

  return (
    tracked: Tracked,
    run: (turn: () => LiveTurn, control: Control) => Promise<Outcome>,
  ): LiveTurn => {
    const { about, session, keep } = tracked
    const log = turnLog()
    const started = deferred<LiveTurn>()
    const control: Control = {
      log,
      started,
      cancelled: false,
      driving: undefined,
      place: undefined,
      over: false,
    }

    const end = async (): Promise<Outcome> => {
      let ended: Outcome
      try {
        ended = await run(() => turn, control)
      } catch (error) {
        started.promise.catch(nothing)
        started.reject(error)
        ended = failure(error, tracked)
      }
      if (isAnswered(ended)) log.push(ended.done)
      else log.push(failedItem(refusalOf(ended)))
      log.close()
      control.over = true
      control.driving = undefined
      control.place = undefined
      const isOver = ended.status !== 'paused' && !('stored' in ended)
      live.retire(session, turn, isOver && keep)
      if (ended.status === 'paused' && ended.goesOn) void ready(turn.runId)
      return ended
    }

    const turn = turnOf(about, control, end())
    live.enlist(session, turn)
    return turn
  }
}
