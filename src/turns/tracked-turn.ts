import { Refusal, refusal } from '../domain/refusal.ts'
import type { Log } from '../ports/log.ts'
import { type Deferred, deferred } from '../support/deferred.ts'
import type { Kept, LiveTurns } from './live-turns.ts'
import type { LiveTurn, Outcome } from './turn.ts'
import { type TurnLog, turnLog } from './turn-log.ts'

type Tracked = {
  about: Pick<
    LiveTurn,
    'runId' | 'sessionId' | 'organizationId' | 'agentId' | 'created' | 'askedBy'
  >
  requestId(): string
  keep: Kept
}

/** What a turn under way is given, and what stops it. */
export type Control = {
  log: TurnLog
  started: Deferred<LiveTurn>
  cancelled: boolean
  stop(): void
  handOver(): void
}

type Uses = {
  live: Pick<LiveTurns, 'enlist' | 'retire'>
  /** A turn stopped to wait for something that is there by now: it is to go on. */
  ready(runId: string): Promise<void>
  log: Pick<Log, 'error'>
}

/**
 * Follows a turn from its place in the line to its end, for all who ask for it. `outcome` never
 * rejects.
 */
export const trackedTurn =
  ({ live, ready, log: logger }: Uses) =>
  (
    { about, requestId, keep }: Tracked,
    run: (turn: () => LiveTurn, control: Control) => Promise<Outcome>,
  ): LiveTurn => {
    const log = turnLog()
    const started = deferred<LiveTurn>()
    started.promise.catch(() => undefined)
    const nothing = () => undefined
    const control: Control = { log, started, cancelled: false, stop: nothing, handOver: nothing }

    const outcome = run(() => turn, control)
      .catch((error: unknown): Outcome => {
        started.reject(error)
        if (error instanceof Refusal) return { status: 'failed', refusal: error }
        const fields = { err: error, reqId: requestId(), run_id: about.runId }
        logger.error(fields, 'a turn could not be stored')
        return { status: 'failed', refusal: refusal('service_unavailable'), stored: false }
      })
      .then((ended) => {
        if (ended.status === 'failed') {
          const { code, message } = ended.refusal
          log.push({ event: 'failed', code, message })
        } else log.push(ended.done)
        log.close()
        const isOver = ended.status !== 'paused' && !('stored' in ended)
        live.retire(turn, isOver && keep)
        if (ended.status === 'paused' && ended.goesOn) void ready(turn.runId)
        return ended
      })

    const turn: LiveTurn = {
      ...about,
      log,
      started: started.promise,
      outcome,
      cancel() {
        control.cancelled = true
        control.stop()
      },
      isCancelled: () => control.cancelled,
      handOver: () => control.handOver(),
    }
    live.enlist(turn)
    return turn
  }
