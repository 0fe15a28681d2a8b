import type { CancelPausedRunCommand } from '../../../commands/cancel-paused-run.ts'
import type { RunView } from '../../../projections/runs.ts'
import type { TurnDone } from '../../agents/agent-event.ts'
import { refusal } from '../../domain/refusal.ts'
import { systemCall } from '../../ports/call.ts'
import type { Clock } from '../../ports/clock.ts'
import { START } from '../../ports/event-store.ts'
import type { WaitForPosition } from '../../ports/views.ts'
import { type Deferred, deferred } from '../../support/deferred.ts'
import { sinceStored, stopwatch } from '../../support/stopwatch.ts'
import { createdOf } from '../read/run-start.ts'
import type { ExecuteRun } from '../run/execute.ts'
import { type Place, sessionName } from '../run/live-turns.ts'
import type { RunPlace } from '../run/run-places.ts'
import { announceStart, type Control } from '../run/track-turn.ts'
import type { TurnScheduler } from '../run/turn-scheduler.ts'
import { notStored, type Outcome, type TurnRequest } from '../turn.ts'
import type { CloseRun } from './close-run.ts'
import { NotResumable, type TakeRun } from './take-run.ts'

type Uses = {
  scheduler: TurnScheduler
  takeRun: TakeRun
  executeRun: ExecuteRun
  closeRun: CloseRun
  cancelPausedRun: CancelPausedRunCommand
  waitForPosition: WaitForPosition
  /** The owner of a session; undefined: it is gone. */
  sessionOwner(place: Place): Promise<{ ownerId: string; keyId: string | null } | undefined>
  /** How many runs of a user may run at once in an organization. */
  runsAtOnce(payerId: string): Promise<number>
  clock: Clock
}

/** A run that is resumed, or begins from the queue. */
type Resuming = {
  control: Control
  place: RunPlace
  onTaken?: (request: TurnRequest) => void
  /** Whether other suspects are in flight, asked when the run is taken over. */
  besideSuspects?: () => boolean
}

const nothing = () => undefined
const never = () => false

const nothingSaid = (agent: string): TurnDone => ({
  event: 'done',
  text: '',
  agent,
  finish_reason: 'stop',
  usage: { promptTokens: 0, completionTokens: 0 },
  charges: [],
})

/** Resumes runs of processes that are gone, and begins runs from the queue. */
export const resumeTurns = (uses: Uses) => {
  const { scheduler, takeRun, executeRun, clock } = uses
  const { live, places } = scheduler
  /** By run and attempt: resolves once the run is taken over, or waits for its place. */
  const resuming = new Map<string, Promise<void>>()

  /** How long a run of another process has taken, in milliseconds. */
  const elapsedOf = ({ status, waited_until, started_at }: RunView): number =>
    status === 'running' ? sinceStored(clock, waited_until ?? started_at) : 0

  /** A queued run whose client cancels it ends at once; else another process has it. */
  const leaveQueue = async (
    { cancelled }: Control,
    { run_id: runId, session_id: sessionId, organization_id, agent }: RunView,
  ): Promise<Outcome> => {
    if (!cancelled) return notStored()
    const call = systemCall(runId, clock.now(), organization_id)
    const { position } = await uses.cancelPausedRun({ sessionId, runId }, call)
    await uses.waitForPosition(position)
    return { status: 'cancelled', done: nothingSaid(agent) }
  }

  /** Takes a run over, or out of the queue, and runs it to its end. @throws NotResumable */
  const runTaken = async (run: RunView, resumed: Resuming): Promise<Outcome> => {
    const { control, onTaken = nothing, besideSuspects = never } = resumed
    const claim = await takeRun(run, besideSuspects())
    if (!claim) return notStored()
    const { request, attempt, session, position, key, recorded } = claim
    const { ownerId, keyId } = session
    if (attempt > 1) control.items.push({ event: 'run_resumed', attempt })
    const elapsed = stopwatch(clock, elapsedOf(run))
    const beginning = { ownerId, keyId, position, elapsed }
    announceStart(control, { attempt, beginning, queued: false })
    onTaken(request)
    const runId = run.run_id
    return executeRun({ request, runId, session, key, recorded, control, attempt, elapsed })
  }

  /** The same once there is a place for the run; a run that cannot be resumed is closed. */
  const runQueued = async (run: RunView, resumed: Resuming): Promise<Outcome> => {
    const { control, place } = resumed
    const entered = !control.cancelled && (await place.enter())
    const isQueued = run.status === 'queued'
    if (!entered && (isQueued || !control.cancelled)) return leaveQueue(control, run)
    try {
      return await runTaken(run, resumed)
    } catch (error) {
      if (!(error instanceof NotResumable)) throw error
      await uses.closeRun(run, error)
      return { status: 'failed', refusal: refusal('orchestrator_error') }
    }
  }

  /** A run without a place is shown as it waits, whoever its owner is by now. */
  const showWaiting = async (run: RunView, { control, place }: Resuming): Promise<void> => {
    const owner = await uses.sessionOwner(control.turn)
    const elapsed = stopwatch(clock, elapsedOf(run))
    const waiting = { queued: place.isQueued() }
    const beginning = owner && { ...owner, position: START, elapsed }
    announceStart(control, beginning ? { ...waiting, beginning } : waiting)
  }

  /** `taking` resolves once the run is taken over or waits; it rejects with why it is not. */
  const runPlaced = async (
    run: RunView,
    resumed: Resuming,
    taking: Deferred<void>,
  ): Promise<Outcome> => {
    // The caller gets the reason and logs it.
    if (resumed.place.tryEnter())
      return runTaken(run, resumed).catch((error: unknown) => {
        taking.reject(error)
        throw refusal('service_unavailable')
      })
    await showWaiting(run, resumed)
    taking.resolve()
    return runQueued(run, resumed)
  }

  const track = (run: RunView, besideSuspects: () => boolean, onEnd: () => void): Promise<void> => {
    const { run_id: runId, session_id: sessionId, organization_id: organizationId } = run
    const about = {
      runId,
      sessionId,
      organizationId,
      agentId: run.agent_id,
      created: createdOf(runId, Date.parse(run.started_at)),
    }
    const session = sessionName(about)
    const taking = deferred<void>()
    let requestId = runId

    const onTaken = ({ call }: TurnRequest) => {
      requestId = call.requestId
      taking.resolve()
    }

    const tracked = { about, session, requestId: () => requestId, keep: true }
    const { outcome } = scheduler.track(tracked, async (control) => {
      const limit = await uses.runsAtOnce(run.payer_id)
      const payer = { organizationId, payerId: run.payer_id, limit }
      const place = places.resume(payer, run.status === 'queued')
      const resumed = { control, place, onTaken, besideSuspects }
      const work = () => runPlaced(run, resumed, taking)
      return scheduler.runInOrder(session, control, place, work)
    })
    void outcome.finally(() => {
      taking.resolve()
      onEnd()
    })
    return taking.promise
  }

  return {
    /** Runs a queued run to its end, once there is a place for it. */
    runQueued,
    /**
     * Resumes a run of a process that is gone. Resolves when it is resumed here, or is seen to run
     * elsewhere or to have ended. A second call for the same attempt does nothing more.
     * `besideSuspects`: whether other suspects are in flight, asked when the run is taken over.
     * @throws NotResumable, StoreUnavailable
     */
    async resume(run: RunView, besideSuspects = never): Promise<void> {
      const { run_id: runId, attempt = 1 } = run
      const known = live.find(runId)
      if ((known?.attempt ?? 0) > attempt || (known?.queued && live.isRunning(runId))) return
      const name = `${runId}/${attempt}`
      const taking = resuming.get(name) ?? track(run, besideSuspects, () => resuming.delete(name))
      resuming.set(name, taking)
      await taking
    },
  }
}

export type ResumeTurns = ReturnType<typeof resumeTurns>
