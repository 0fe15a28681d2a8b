import type { CancelPausedRunCommand } from '../../../commands/cancel-paused-run.ts'
import type { RunView } from '../../../projections/runs.ts'
import type { TurnDone } from '../../agents/agent-event.ts'
import type { Position } from '../../domain/event.ts'
import { refusal } from '../../domain/refusal.ts'
import { isOwn } from '../../domain/session/viewer.ts'
import { type Call, systemCall } from '../../ports/call.ts'
import { START } from '../../ports/event-store.ts'
import { deferred } from '../../support/deferred.ts'
import { sinceStored, stopwatch } from '../../support/stopwatch.ts'
import type { PastTurn } from '../read/past-turn.ts'
import { createdOf } from '../read/run-start.ts'
import type { CloseRun } from '../resume/close-run.ts'
import { NotResumable, type TakeRun } from '../resume/take-run.ts'
import type { LiveTurn, Outcome, TurnRequest } from '../turn.ts'
import { type RunTurnUses, runTurn } from './execute.ts'
import { type Kept, liveTurns, type Place, sessionName } from './live-turns.ts'
import { type RunPlace, runPlaces } from './run-places.ts'
import { turnQueue } from './session-queue.ts'
import { type Control, trackedTurn } from './track-turn.ts'
import type { TurnLog } from './turn-log.ts'

type Uses = Omit<RunTurnUses, 'isStopping'> & {
  pastTurn: PastTurn
  findRun(runId: string): Promise<RunView | undefined>
  closeRun: CloseRun
  /** The owner of a session; undefined: it is gone. */
  sessionOwner(place: Place): Promise<{ ownerId: string; keyId: string | null } | undefined>
  /** How many runs of a user may run at once in an organization. */
  runsAtOnce(payerId: string): Promise<number>
  takeRun: TakeRun
  cancelPausedRun: CancelPausedRunCommand
  /** A turn stopped to wait for something that is there by now: it is to go on. */
  ready(runId: string): Promise<void>
}

export type Sending = {
  keep: Kept
  /** How many runs of the payer may run at once in the organization. */
  runsAtOnce: number
  /** No client waits for the answer: the run is queued if it cannot start now. */
  background?: boolean
}

/** A turn that goes on with a run, or begins a queued one. */
type Resuming = {
  turn: () => LiveTurn
  control: Control
  place: RunPlace
  onTaken?: (request: TurnRequest) => void
  /** Asked when the run is taken over. */
  besideSuspects?: () => boolean
}

const nothing = () => undefined
const notBegun = () => 0
const never = () => false
const notStored = (): Outcome => ({
  status: 'failed',
  refusal: refusal('service_unavailable'),
  stored: false,
})

const nothingSaid = (agent: string): TurnDone => ({
  event: 'done',
  text: '',
  agent,
  finish_reason: 'stop',
  usage: { promptTokens: 0, completionTokens: 0 },
  charges: [],
})

/**
 * Turns of sessions: one at a time per session, so many at once of a payer, each run once however
 * many follow it. Its flow: place among the payer's runs → queue → reserve credits and store the
 * message → agents → log, recorder, meter → store the end and settle → the views have it → tell the
 * client.
 */
export const turns = (uses: Uses) => {
  const { clock, pastTurn, takeRun } = uses
  let stopping = false
  const { start, keyOf, finish } = runTurn({ ...uses, isStopping: () => stopping })
  const queue = turnQueue()
  const live = liveTurns(clock)
  const tracked = trackedTurn({ live, ready: uses.ready, log: uses.log })
  const places = runPlaces(clock)
  /** Runs that are taken over, or wait for it, each by its attempt so far. */
  const resuming = new Map<string, Promise<void>>()

  /** The turn that the same message began before: it runs, or its answer is stored. */
  const earlier = async (runId: string | undefined): Promise<LiveTurn> => {
    const turn = runId && (live.find(runId) ?? (await pastTurn(runId, { items: 0, characters: 0 })))
    if (!turn) throw refusal('session_busy')
    return turn
  }

  /** Copies what the clients of another turn are told, except its end. */
  const repeat = async (before: LiveTurn, log: TurnLog): Promise<Outcome> => {
    for await (const items of before.log.follow(0))
      for (const item of items) if (item.event !== 'done' && item.event !== 'failed') log.push(item)
    return before.outcome
  }

  /** How long a run that another process had has taken, in milliseconds. */
  const elapsedOf = ({ status, waited_until, started_at }: RunView): number =>
    status === 'running' ? sinceStored(clock, waited_until ?? started_at) : 0

  /** A queued run whose client cancels it ends at once; else another process has it. */
  const leftQueue = async (
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
  const runOn = async (
    run: RunView,
    { turn, control, onTaken = nothing, besideSuspects = never }: Resuming,
  ): Promise<Outcome> => {
    const taken = await takeRun(run, besideSuspects())
    if (!taken) return notStored()
    const { request, attempt, sent, ...rest } = taken
    const { ownerId, keyId } = sent.session
    if (attempt > 1) control.log.push({ event: 'run_resumed', attempt })
    const elapsed = stopwatch(clock, elapsedOf(run))
    const begun = { ownerId, keyId, position: sent.position, elapsed }
    Object.assign(turn(), { attempt, begun, queued: false })
    control.started.resolve(turn())
    onTaken(request)
    return finish(request, run.run_id, { ...rest, sent, control, attempt, elapsed })
  }

  /** The same once there is a place for the run; one that cannot go on is closed. */
  const runOnLater = async (run: RunView, resuming: Resuming): Promise<Outcome> => {
    const { control, place } = resuming
    const entered = !control.cancelled && (await place.enter())
    const isQueued = run.status === 'queued'
    if (!entered && (isQueued || !control.cancelled)) return leftQueue(control, run)
    try {
      return await runOn(run, resuming)
    } catch (error) {
      if (!(error instanceof NotResumable)) throw error
      await uses.closeRun(run, error)
      return { status: 'failed', refusal: refusal('orchestrator_error') }
    }
  }

  /** A queued run as the views show it; undefined where they lag, and housekeeping begins it later. */
  const shownRun = async (runId: string, position: Position): Promise<RunView | undefined> => {
    await uses.waitForPosition(position)
    return uses.findRun(runId)
  }

  /**
   * Begins a turn. `keep`: it can be read again after its end. A refusal rejects `started`;
   * `outcome` never rejects.
   */
  const send = (
    asked: TurnRequest,
    { keep, runsAtOnce, background = false }: Sending,
  ): LiveTurn => {
    const { sessionId, viewer, call, agent, payerId, files } = asked
    const { organizationId, requestId } = call
    const session = sessionName({ organizationId, sessionId })
    const runId = clock.id()
    /** A queued turn leaves its request to the log. */
    const held: { request?: TurnRequest } = { request: asked }
    const about = {
      runId,
      organizationId,
      sessionId,
      agentId: agent.agentId,
      created: createdOf(runId, clock.now().getTime()),
      echo: asked.echo?.json,
      askedBy: { ownerId: viewer.userId, keyId: call.keyId },
    }

    const queued = async (request: TurnRequest, turn: () => LiveTurn, control: Control) => {
      const sent = await start({ ...request, queued: { runsAtOnce } }, runId)
      if (!sent.begun) return sent
      const { ownerId, keyId } = sent.session
      const begun = { ownerId, keyId, position: sent.position, elapsed: notBegun }
      Object.assign(turn(), { begun, queued: true })
      control.started.resolve(turn())
      await request.files?.discard?.()
      delete held.request
      return sent
    }

    /** Its outcome, or the run that answers the same message already. */
    const inSession = async (
      turn: () => LiveTurn,
      control: Control,
      place: RunPlace,
    ): Promise<Outcome | { repeated: string | undefined }> => {
      const { request } = held
      if (stopping || !request) throw refusal('service_unavailable')
      if (!place.tryEnter() && !control.cancelled) {
        if (place.isQueued()) {
          const sent = await queued(request, turn, control)
          if (!sent.begun) return { repeated: sent.runId }
          const run = await shownRun(runId, sent.position)
          turn().echo = undefined
          return run ? runOnLater(run, { turn, control, place }) : notStored()
        }
        if (!(await place.enter()) && !control.cancelled) throw refusal('service_unavailable')
      }
      const sent = await start(request, runId)
      if (!sent.begun) return { repeated: sent.runId }
      const { ownerId, keyId } = sent.session
      const elapsed = stopwatch(clock)
      turn().begun = { ownerId, keyId, position: sent.position, elapsed }
      control.started.resolve(turn())
      const sealing = keyOf(request)
      const key = sealing instanceof Promise ? await sealing : sealing
      return finish(request, runId, { sent, key, control, attempt: 1, elapsed })
    }

    const answered = async (turn: () => LiveTurn, control: Control): Promise<Outcome> => {
      const { log, started } = control
      const owner = live.runningIn(session)?.begun
      if (owner && !isOwn(viewer, owner)) throw refusal('session_not_found')
      const payer = { organizationId, payerId, limit: runsAtOnce }
      const place = background ? places.enqueue(payer) : places.admit(payer)
      control.place = place
      let repeated: string | undefined
      try {
        const line = queue.enter(session)
        if (line) await line
        try {
          const ended = await inSession(turn, control, place)
          if ('status' in ended) return ended
          repeated = ended.repeated
        } finally {
          queue.leave(session)
        }
      } finally {
        place.leave()
      }
      // Not in its place in the line, which a run that goes on takes.
      const before = await earlier(repeated)
      started.resolve(before)
      return repeat(before, log)
    }
    const withFiles = async (turn: () => LiveTurn, control: Control): Promise<Outcome> => {
      try {
        return await answered(turn, control)
      } finally {
        await files?.discard?.()
      }
    }
    const tracking = { about, session, requestId: () => requestId, keep }
    return tracked(tracking, files ? withFiles : answered)
  }

  const goOn = (run: RunView, besideSuspects: () => boolean, onEnd: () => void): Promise<void> => {
    const { run_id: runId, session_id: sessionId, organization_id: organizationId } = run
    const about = {
      runId,
      sessionId,
      organizationId,
      agentId: run.agent_id,
      created: createdOf(runId, Date.parse(run.started_at)),
    }
    const taking = deferred<void>()
    let requestId = runId
    const session = sessionName(about)
    const tracking = { about, session, requestId: () => requestId, keep: true }

    const onTaken = ({ call }: TurnRequest) => {
      requestId = call.requestId
      taking.resolve()
    }

    const inSession = async (resuming: Resuming): Promise<Outcome> => {
      const { turn, place } = resuming
      // The caller gets the reason and logs it.
      if (place.tryEnter())
        return runOn(run, resuming).catch((error: unknown) => {
          taking.reject(error)
          throw refusal('service_unavailable')
        })
      const owner = await uses.sessionOwner(about)
      if (owner)
        turn().begun = { ...owner, position: START, elapsed: stopwatch(clock, elapsedOf(run)) }
      turn().queued = place.isQueued()
      resuming.control.started.resolve(turn())
      taking.resolve()
      return runOnLater(run, resuming)
    }

    const { outcome } = tracked(tracking, async (turn, control) => {
      const limit = await uses.runsAtOnce(run.payer_id)
      const payer = { organizationId, payerId: run.payer_id, limit }
      const place = places.resume(payer, run.status === 'queued')
      control.place = place
      try {
        const line = queue.enter(session)
        if (line) await line
        try {
          return await inSession({ turn, control, place, onTaken, besideSuspects })
        } finally {
          queue.leave(session)
        }
      } finally {
        place.leave()
      }
    })
    void outcome.finally(() => {
      taking.resolve()
      onEnd()
    })
    return taking.promise
  }

  /**
   * Goes on with a run of a process that is gone. Resolves when it goes on here, or is seen to go on
   * elsewhere or to have ended. Told again of the same attempt, it does nothing more. `besideSuspects`:
   * whether other suspects are in flight here, asked when the run is taken over.
   * @throws NotResumable, StoreUnavailable
   */
  const resume = async (run: RunView, besideSuspects = never): Promise<void> => {
    const { run_id: runId, attempt = 1 } = run
    const known = live.find(runId)
    if ((known?.attempt ?? 0) > attempt || (known?.queued && live.isRunning(runId)))
      return undefined
    const name = `${runId}/${attempt}`
    const taking = resuming.get(name) ?? goOn(run, besideSuspects, () => resuming.delete(name))
    resuming.set(name, taking)
    return taking
  }

  /** See `cancel`: once more where a turn has gone on meanwhile. */
  const cancelled = async (place: Place, call: Call): Promise<boolean> => {
    const stopped = live.ofSession(place)
    for (const turn of stopped) turn.cancel()
    const outcomes = await Promise.all(stopped.map(({ outcome }) => outcome))
    const isOver = outcomes.length > 0 && outcomes.every(({ status }) => status !== 'paused')
    if (isOver) return true
    const { cancelled: ended, position } = await uses.cancelPausedRun(place, call)
    await uses.waitForPosition(position)
    return ended || (live.ofSession(place).length > 0 && (await cancelled(place, call)))
  }

  return {
    send,
    resume,
    find: live.find,
    isRunning: live.isRunning,
    elapsed: live.elapsed,
    current: live.current,
    forget: live.forget,
    /** Resolves when the views show the beginning of the session's running turn. */
    async waitUntilShown(place: Place): Promise<void> {
      const position = live.current(place)?.begun?.position
      if (position !== undefined) await uses.waitForPosition(position)
    },
    /**
     * Cancels the running turn of a session and those that wait, or the one that waits for
     * somebody; false when there is none. Resolves when their ends are stored.
     */
    cancel: cancelled,
    /**
     * For a shutdown: lets turns end, and leaves those that take longer to another process; those
     * that wait in line are refused. Resolves when all is stored.
     */
    async drain(withinMs: number): Promise<void> {
      places.abandonQueued()
      const running = live.all()
      const timer = setTimeout(() => {
        stopping = true
        for (const turn of running) turn.handOver?.()
      }, withinMs)
      await Promise.all(running.map(({ outcome }) => outcome))
      clearTimeout(timer)
    },
    get running(): number {
      return live.running
    },
    /** How many background runs are queued. */
    queued: places.queued,
  }
}

export type Turns = ReturnType<typeof turns>
