import { LRUCache } from 'lru-cache'
import type { CancelPausedRunCommand } from '../../commands/cancel-paused-run.ts'
import type { RunView } from '../../projections/runs.ts'
import { Refusal, refusal } from '../domain/refusal.ts'
import { isOwn } from '../domain/session/viewer.ts'
import type { Call } from '../ports/call.ts'
import { type Deferred, deferred } from '../support/deferred.ts'
import type { PastTurn } from './past-turn.ts'
import { type RunTurnUses, runTurn } from './run-turn.ts'
import type { TakeRun } from './take-run.ts'
import type { LiveTurn, Outcome, TurnRequest } from './turn.ts'
import { type TurnLog, turnLog } from './turn-log.ts'
import { turnQueue } from './turn-queue.ts'

/** How long an ended turn can be read again from memory (docs/contract/streaming.md#following-a-turn-again), and how much. */
const keptMs = 600_000
const keptCharacters = 64_000_000

/** Whether a turn can be read again after its end, and whether one can that was refused while it waited. */
export type Kept = boolean | 'refusal too'

type Place = { organizationId: string; sessionId: string }

type Tracked = {
  about: Pick<
    LiveTurn,
    'runId' | 'sessionId' | 'organizationId' | 'agentId' | 'created' | 'askedBy'
  >
  requestId: string
  keep: Kept
}

/** What a turn under way is given, and what stops it. */
type Control = {
  log: TurnLog
  started: Deferred<LiveTurn>
  cancelled: boolean
  stop(): void
  handOver(): void
}

const sessionName = ({ organizationId, sessionId }: Place): string =>
  `${organizationId}/${sessionId}`

type Uses = RunTurnUses & {
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
  const { clock, pastTurn, takeRun, log: logger } = uses
  const { start, sessionKeyOf: sealingKey, finish } = runTurn(uses)
  const queue = turnQueue()
  /** Running and waiting turns, by session, in the order they came. */
  const live = new Map<string, Set<LiveTurn>>()
  const byId = new Map<string, LiveTurn>()
  let stopping = false
  const kept = new LRUCache<string, LiveTurn>({
    ttl: keptMs,
    maxSize: keptCharacters,
    maxEntrySize: keptCharacters,
    sizeCalculation: ({ log }) => 1_000 + log.size,
  })

  const enlist = (turn: LiveTurn) => {
    const session = live.get(sessionName(turn)) ?? new Set()
    live.set(sessionName(turn), session.add(turn))
    byId.set(turn.runId, turn)
  }

  const retire = (turn: LiveTurn, keep: Kept) => {
    const session = live.get(sessionName(turn))
    session?.delete(turn)
    if (session?.size === 0) live.delete(sessionName(turn))
    byId.delete(turn.runId)
    if (keep === 'refusal too' || (keep && turn.begun)) kept.set(turn.runId, turn)
  }

  /** The session's running turn; those that wait have not begun. */
  const current = (place: Place): LiveTurn | undefined => {
    for (const turn of live.get(sessionName(place)) ?? []) if (turn.begun) return turn
    return undefined
  }

  const find = (runId: string): LiveTurn | undefined => byId.get(runId) ?? kept.get(runId)

  /** The turn that the same message began before: it runs, or its answer is stored. */
  const earlier = async (runId: string | undefined): Promise<LiveTurn> => {
    const turn = runId && (find(runId) ?? (await pastTurn(runId, { items: 0, characters: 0 })))
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
   * Follows a turn from its place in the line to its end, for all who ask for it. `outcome` never
   * rejects.
   */
  const tracked = (
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
        const fields = { err: error, reqId: requestId, run_id: about.runId }
        logger.error(fields, 'a turn could not be stored')
        return { status: 'failed', refusal: refusal('service_unavailable') }
      })
      .then((ended) => {
        if (ended.status === 'failed') {
          const { code, message } = ended.refusal
          log.push({ event: 'failed', code, message })
        } else log.push(ended.done)
        log.close()
        retire(turn, ended.status === 'paused' ? false : keep)
        if (ended.status === 'paused' && ended.goesOn) void uses.ready(turn.runId)
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
    enlist(turn)
    return turn
  }

  /** A turn that begins while the process stops is left to another at once. */
  const followed = (finishing: ReturnType<typeof finish>, control: Control): Promise<Outcome> => {
    control.stop = finishing.cancel
    control.handOver = finishing.handOver
    if (stopping) finishing.handOver()
    return finishing.outcome
  }

  /**
   * Begins a turn. `keep`: it can be read again after its end. A refusal rejects `started`;
   * `outcome` never rejects.
   */
  const send = (request: TurnRequest, { keep }: { keep: Kept }): LiveTurn => {
    const { sessionId, viewer, call, agent } = request
    const { organizationId } = call
    const place = { organizationId, sessionId }
    const runId = clock.id()
    const about = {
      runId,
      ...place,
      agentId: agent.agentId,
      created: Math.floor(clock.now().getTime() / 1000),
      askedBy: { ownerId: viewer.userId, keyId: call.keyId },
    }
    const answered = async (turn: () => LiveTurn, control: Control): Promise<Outcome> => {
      const { log, started } = control
      const owner = current(place)?.begun
      if (owner && !isOwn(viewer, owner)) throw refusal('session_not_found')
      const leave = await queue.enter(sessionName(place))
      try {
        if (stopping) throw refusal('service_unavailable')
        const sent = await start(request, runId)
        if (!sent.begun) {
          const before = await earlier(sent.runId)
          started.resolve(before)
          return await repeat(before, log)
        }
        const { ownerId, keyId } = sent.session
        turn().begun = { ownerId, keyId, position: sent.position }
        started.resolve(turn())
        const sealing = sealingKey(request)
        const key = sealing instanceof Promise ? await sealing : sealing
        const startedAt = clock.now().getTime()
        const begun = { sent, key, log, cancelled: control.cancelled, attempt: 1, startedAt }
        return await followed(finish(request, runId, begun), control)
      } finally {
        leave()
      }
    }
    const tracking = { about, requestId: call.requestId, keep }
    return tracked(tracking, (turn, control) =>
      answered(turn, control).finally(() => request.files?.discard?.()),
    )
  }

  /**
   * Goes on with a run of a process that is gone. Resolves when it goes on here, or is seen to go on
   * elsewhere or to have ended. @throws NotResumable, StoreUnavailable
   */
  const resume = async (run: RunView): Promise<void> => {
    const { run_id: runId, session_id: sessionId, organization_id: organizationId } = run
    const about = {
      runId,
      sessionId,
      organizationId,
      agentId: run.agent_id,
      created: Math.floor(Date.parse(run.started_at) / 1000),
    }
    const taking = deferred<void>()
    tracked({ about, requestId: runId, keep: true }, async (turn, control) => {
      const leave = await queue.enter(sessionName(about))
      try {
        const taken = await takeRun(run)
        if (!taken) return { status: 'failed', refusal: refusal('service_unavailable') }
        const { request, attempt, sent, ...rest } = taken
        const { ownerId, keyId } = sent.session
        const { log } = control
        log.push({ event: 'run_resumed', attempt })
        Object.assign(turn(), { attempt, begun: { ownerId, keyId, position: sent.position } })
        control.started.resolve(turn())
        const startedAt =
          run.status === 'running' ? Date.parse(run.started_at) : clock.now().getTime()
        const begun = { ...rest, sent, log, cancelled: control.cancelled, attempt, startedAt }
        taking.resolve()
        return await followed(finish(request, runId, begun), control)
      } catch (error) {
        taking.reject(error)
        throw error
      } finally {
        taking.resolve()
        leave()
      }
    })
    return taking.promise
  }

  return {
    send,
    resume,
    find,
    /** Whether a turn is waiting or under way in this process. */
    isRunning: (runId: string): boolean => byId.has(runId),
    current,
    /** Resolves when the views show the beginning of the session's running turn. */
    async waitUntilShown(place: Place): Promise<void> {
      const position = current(place)?.begun?.position
      if (position !== undefined) await uses.waitForPosition(position)
    },
    /**
     * Cancels the running turn of a session and those that wait, or the one that waits for somebody; false
     * when there is none. Resolves
     * when their ends are stored.
     */
    async cancel(place: Place, call: Call): Promise<boolean> {
      const stopped = [...(live.get(sessionName(place)) ?? [])]
      for (const turn of stopped) turn.cancel()
      await Promise.all(stopped.map(({ outcome }) => outcome))
      if (stopped.length > 0) return true
      const { cancelled, position } = await uses.cancelPausedRun(place, call)
      await uses.waitForPosition(position)
      return cancelled
    },
    /** Forgets the session's ended turns: they can no longer be read again from memory. */
    forget(place: Place): void {
      for (const [runId, turn] of [...kept.entries()])
        if (sessionName(turn) === sessionName(place)) kept.delete(runId)
    },
    /**
     * For a shutdown: lets turns end, and leaves those that take longer to another process; those that
     * wait in line are refused. Resolves when all is stored.
     */
    async drain(withinMs: number): Promise<void> {
      const running = [...byId.values()]
      const timer = setTimeout(() => {
        stopping = true
        for (const turn of running) turn.handOver?.()
      }, withinMs)
      await Promise.all(running.map(({ outcome }) => outcome))
      clearTimeout(timer)
    },
    get running(): number {
      return byId.size
    },
  }
}

export type Turns = ReturnType<typeof turns>
