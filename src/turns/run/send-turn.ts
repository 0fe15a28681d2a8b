import type { Sent } from '../../../commands/send-message.ts'
import type { RunView } from '../../../projections/runs.ts'
import type { Position } from '../../domain/event.ts'
import { refusal } from '../../domain/refusal.ts'
import { isOwn } from '../../domain/session/viewer.ts'
import type { Clock } from '../../ports/clock.ts'
import type { WaitForPosition } from '../../ports/views.ts'
import { stopwatch } from '../../support/stopwatch.ts'
import type { StartRun } from '../begin/start-run.ts'
import { createdOf } from '../read/run-start.ts'
import type { FindOrResumeTurn } from '../resume/find-or-resume-turn.ts'
import type { ResumeTurns } from '../resume/resume-turn.ts'
import { type LiveTurn, notStored, type Outcome, type TurnRequest } from '../turn.ts'
import type { ExecuteRun } from './execute.ts'
import { type Retention, sessionName } from './live-turns.ts'
import type { RunPlace } from './run-places.ts'
import { announceStart, type Control } from './track-turn.ts'
import type { TurnScheduler } from './turn-scheduler.ts'

type Uses = {
  scheduler: TurnScheduler
  startRun: StartRun
  executeRun: ExecuteRun
  runQueued: ResumeTurns['runQueued']
  findOrResumeTurn: FindOrResumeTurn
  findRun(runId: string): Promise<RunView | undefined>
  waitForPosition: WaitForPosition
  clock: Clock
}

export type Sending = {
  /** Whether it can be read again after its end. */
  keep: Retention
  /** How many runs of the payer may run at once in the organization. */
  runsAtOnce: number
  /** No client waits for the answer: the run is queued if it cannot start now. */
  background?: boolean
}

/** A turn that is being sent. A queued one leaves its request to the log. */
type SentTurn = { request: TurnRequest | undefined; runId: string; runsAtOnce: number }

/** The end of a turn, or the earlier run that answers its message. */
type Ending = Outcome | { answeringRunId: string | undefined }

const notBegun = () => 0

/**
 * Sends a turn. It is tracked at once, admitted among its payer's runs, and waits for its session.
 * Then it enters its place, and its message is stored and its run executed.
 */
export const sendTurn = (uses: Uses) => {
  const { scheduler, startRun, executeRun, findOrResumeTurn, clock } = uses
  const { live, places } = scheduler

  /** The turn that the same message began before: it runs, or its answer is stored. */
  const turnOfRun = async (runId: string | undefined): Promise<LiveTurn> => {
    const turn = runId && (live.find(runId) ?? (await findOrResumeTurn(runId)))
    if (!turn) throw refusal('session_busy')
    return turn
  }

  /** Copies the items of the earlier turn, except its end. */
  const repeat = async (runId: string | undefined, control: Control): Promise<Outcome> => {
    const earlierTurn = await turnOfRun(runId)
    control.started.resolve(earlierTurn)
    for await (const items of earlierTurn.items.follow(0))
      for (const item of items)
        if (item.event !== 'done' && item.event !== 'failed') control.items.push(item)
    return earlierTurn.outcome
  }

  const beginningOf = ({ session, position }: Sent, elapsed: () => number) => {
    const { ownerId, keyId } = session
    return { ownerId, keyId, position, elapsed }
  }

  /** A queued run as the views show it; where they lag, housekeeping begins it later. */
  const queuedRun = async (runId: string, position: Position): Promise<RunView | undefined> => {
    await uses.waitForPosition(position)
    return uses.findRun(runId)
  }

  /** Stores a run that has to wait for its place. */
  const storeInQueue = async (sent: SentTurn, request: TurnRequest, control: Control) => {
    const { runId, runsAtOnce } = sent
    const stored = await startRun({ ...request, queued: { runsAtOnce } }, runId)
    if (!stored.begun) return stored
    announceStart(control, { beginning: beginningOf(stored, notBegun), queued: true })
    await request.files?.discard?.()
    sent.request = undefined
    return stored
  }

  const runLater = async (
    sent: SentTurn,
    request: TurnRequest,
    control: Control,
    place: RunPlace,
  ): Promise<Ending> => {
    const stored = await storeInQueue(sent, request, control)
    if (!stored.begun) return { answeringRunId: stored.runId }
    const run = await queuedRun(sent.runId, stored.position)
    control.turn.echo = undefined
    return run ? uses.runQueued(run, { control, place }) : notStored()
  }

  const runNow = async (request: TurnRequest, runId: string, control: Control): Promise<Ending> => {
    const sent = await startRun(request, runId)
    const { session, key } = sent
    if (!sent.begun || !key) return { answeringRunId: sent.runId }
    const elapsed = stopwatch(clock)
    announceStart(control, { beginning: beginningOf(sent, elapsed) })
    return executeRun({ request, runId, session, key, control, attempt: 1, elapsed })
  }

  /** Runs a turn that has its session; a client that is gone meanwhile needs no place. */
  const runPlaced = async (sent: SentTurn, control: Control, place: RunPlace): Promise<Ending> => {
    const { request, runId } = sent
    if (scheduler.isStopping() || !request) throw refusal('service_unavailable')
    if (place.tryEnter() || control.cancelled) return runNow(request, runId, control)
    if (place.isQueued()) return runLater(sent, request, control, place)
    if (!(await place.enter()) && !control.cancelled) throw refusal('service_unavailable')
    return runNow(request, runId, control)
  }

  /** A refusal rejects `started`; `outcome` never rejects. */
  return (request: TurnRequest, { keep, runsAtOnce, background = false }: Sending): LiveTurn => {
    const { sessionId, viewer, call, agent, payerId, files, echo } = request
    const { organizationId, keyId, requestId } = call
    const session = sessionName({ organizationId, sessionId })
    const runId = clock.id()
    const sent: SentTurn = { request, runId, runsAtOnce }
    const payer = { organizationId, payerId, limit: runsAtOnce }

    const run = async (control: Control): Promise<Outcome> => {
      const owner = live.runningIn(session)?.beginning
      if (owner && !isOwn(viewer, owner)) throw refusal('session_not_found')
      const place = background ? places.enqueue(payer) : places.admit(payer)
      const work = () => runPlaced(sent, control, place)
      const ending = await scheduler.runInOrder(session, control, place, work)
      // Not in its place in the line, which a run that is resumed takes.
      return 'status' in ending ? ending : repeat(ending.answeringRunId, control)
    }

    const runWithFiles = async (control: Control): Promise<Outcome> => {
      try {
        return await run(control)
      } finally {
        await files?.discard?.()
      }
    }

    const about = {
      runId,
      organizationId,
      sessionId,
      agentId: agent.agentId,
      created: createdOf(runId, clock.now().getTime()),
      echo: echo?.json,
      requester: { ownerId: viewer.userId, keyId },
    }
    const tracked = { about, session, requestId: () => requestId, keep }
    return scheduler.track(tracked, files ? runWithFiles : run)
  }
}
export type SendTurn = ReturnType<typeof sendTurn>
