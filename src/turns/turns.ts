import type { CancelPausedRunCommand } from '../../commands/cancel-paused-run.ts'
import type { RunView } from '../../projections/runs.ts'
import { refusal } from '../domain/refusal.ts'
import { isOwn } from '../domain/session/viewer.ts'
import type { Call } from '../ports/call.ts'
import { deferred } from '../support/deferred.ts'
import { sinceStored, stopwatch } from '../support/stopwatch.ts'
import { type Kept, liveTurns, type Place, sessionName } from './live-turns.ts'
import type { PastTurn } from './past-turn.ts'
import { type RunTurnUses, runTurn } from './run-turn.ts'
import type { TakeRun } from './take-run.ts'
import { type Control, trackedTurn } from './tracked-turn.ts'
import type { LiveTurn, Outcome, TurnRequest } from './turn.ts'
import type { TurnLog } from './turn-log.ts'
import { turnQueue } from './turn-queue.ts'

type Uses = Omit<RunTurnUses, 'isStopping'> & {
  pastTurn: PastTurn
  takeRun: TakeRun
  cancelPausedRun: CancelPausedRunCommand
  /** A turn stopped to wait for something that is there by now: it is to go on. */
  ready(runId: string): Promise<void>
}

/**
 * Turns of sessions: one at a time per session, each run once however many follow it. Its flow:
 * queue → reserve credits and store the message → agents → log, recorder, meter → store the end and
 * settle → the views have it → tell the client.
 */
export const turns = (uses: Uses) => {
  const { clock, pastTurn, takeRun } = uses
  let stopping = false
  const { start, keyOf, finish } = runTurn({ ...uses, isStopping: () => stopping })
  const queue = turnQueue()
  const live = liveTurns(clock)
  const tracked = trackedTurn({ live, ready: uses.ready, log: uses.log })
  /** Runs that are being taken over, each by its attempt so far. */
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

  /**
   * Begins a turn. `keep`: it can be read again after its end. A refusal rejects `started`;
   * `outcome` never rejects.
   */
  const send = (request: TurnRequest, { keep }: { keep: Kept }): LiveTurn => {
    const { sessionId, viewer, call, agent } = request
    const { organizationId } = call
    const session = sessionName({ organizationId, sessionId })
    const runId = clock.id()
    const about = {
      runId,
      organizationId,
      sessionId,
      agentId: agent.agentId,
      created: Math.floor(clock.now().getTime() / 1000),
      askedBy: { ownerId: viewer.userId, keyId: call.keyId },
    }
    const answered = async (turn: () => LiveTurn, control: Control): Promise<Outcome> => {
      const { log, started } = control
      const owner = live.runningIn(session)?.begun
      if (owner && !isOwn(viewer, owner)) throw refusal('session_not_found')
      const place = queue.enter(session)
      if (place) await place
      let repeated: string | undefined
      try {
        if (stopping) throw refusal('service_unavailable')
        const sent = await start(request, runId)
        if (sent.begun) {
          const { ownerId, keyId } = sent.session
          const elapsed = stopwatch(clock)
          turn().begun = { ownerId, keyId, position: sent.position, elapsed }
          started.resolve(turn())
          const sealing = keyOf(request)
          const key = sealing instanceof Promise ? await sealing : sealing
          return await finish(request, runId, { sent, key, control, attempt: 1, elapsed })
        }
        repeated = sent.runId
      } finally {
        queue.leave(session)
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
        await request.files?.discard?.()
      }
    }
    const tracking = { about, session, requestId: () => call.requestId, keep }
    return tracked(tracking, request.files ? withFiles : answered)
  }

  const goOn = (run: RunView): Promise<void> => {
    const { run_id: runId, session_id: sessionId, organization_id: organizationId } = run
    const about = {
      runId,
      sessionId,
      organizationId,
      agentId: run.agent_id,
      created: Math.floor(Date.parse(run.started_at) / 1000),
    }
    const taking = deferred<void>()
    let requestId = runId
    const session = sessionName(about)
    const tracking = { about, session, requestId: () => requestId, keep: true }
    tracked(tracking, async (turn, control) => {
      const place = queue.enter(session)
      if (place) await place
      try {
        const taken = await takeRun(run).catch((error: unknown) => {
          // Whoever wants it to go on is told, and says so in the log.
          taking.reject(error)
          throw refusal('service_unavailable')
        })
        if (!taken)
          return { status: 'failed', refusal: refusal('service_unavailable'), stored: false }
        const { request, attempt, sent, ...rest } = taken
        const { ownerId, keyId } = sent.session
        requestId = request.call.requestId
        control.log.push({ event: 'run_resumed', attempt })
        const before = run.status === 'running' ? sinceStored(clock, run.started_at) : 0
        const elapsed = stopwatch(clock, before)
        const begun = { ownerId, keyId, position: sent.position, elapsed }
        Object.assign(turn(), { attempt, begun })
        control.started.resolve(turn())
        taking.resolve()
        return await finish(request, runId, { ...rest, sent, control, attempt, elapsed })
      } finally {
        taking.resolve()
        queue.leave(session)
      }
    })
    return taking.promise
  }

  /**
   * Goes on with a run of a process that is gone. Resolves when it goes on here, or is seen to go on
   * elsewhere or to have ended. Told again of the same attempt, it does nothing more.
   * @throws NotResumable, StoreUnavailable
   */
  const resume = async (run: RunView): Promise<void> => {
    const { run_id: runId, attempt = 1 } = run
    if ((live.find(runId)?.attempt ?? 0) > attempt) return undefined
    const name = `${runId}/${attempt}`
    const taking = resuming.get(name) ?? goOn(run).finally(() => resuming.delete(name))
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
     * Cancels the running turn of a session and those that wait, or the one that waits for somebody; false
     * when there is none. Resolves when their ends are stored.
     */
    cancel: cancelled,
    /**
     * For a shutdown: lets turns end, and leaves those that take longer to another process; those that
     * wait in line are refused. Resolves when all is stored.
     */
    async drain(withinMs: number): Promise<void> {
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
  }
}

export type Turns = ReturnType<typeof turns>
