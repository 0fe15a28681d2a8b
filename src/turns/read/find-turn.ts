import type { RunView } from '../../../projections/runs.ts'
import type { SessionView } from '../../../projections/sessions.ts'
import type { FindSession } from '../../../queries/find-session.ts'
import { Refusal, refusal } from '../../domain/refusal.ts'
import { isOwn, type Viewer } from '../../domain/session/viewer.ts'
import type { FindOrResumeTurn } from '../resume/find-or-resume-turn.ts'
import type { Turns } from '../run/turns.ts'
import type { LiveTurn } from '../turn.ts'
import { createdOf, type FindRunStart } from './run-start.ts'

export type FindTurnUses = {
  turns: Pick<Turns, 'find'>
  findOrResumeTurn: FindOrResumeTurn
  findRun(runId: string): Promise<RunView | undefined>
  runStart: FindRunStart
  findSession: FindSession
}

export type TurnQuery = { organizationId: string; viewer: Viewer; runId: string | undefined }

/** A turn of a session that is the viewer's. */
export type ViewerTurn = {
  runId: string
  sessionId: string
  /** Unix seconds. */
  created: number
  /** Absent while it runs in another process, or is queued there. */
  turn?: LiveTurn
  isQueued?: boolean
  /** It is told from what is stored. */
  isPast: boolean
  /** What its answer repeats of the request; undefined: nothing. */
  echo(): Promise<string | undefined>
}

type TurnPlace = {
  sessionId: string
  /** The session has not gone on after it. */
  isLatest: boolean
  lastMessageId?: string
}

const unknown = (): Refusal => refusal('response_not_found')

/** Of a session that is gone, there is no turn either. @throws response_not_found */
export const asUnknownTurn = (error: unknown): never => {
  throw error instanceof Refusal && error.code === 'session_not_found' ? unknown() : error
}

/**
 * A turn by its run, in memory or as it is stored. Other people's turns do not exist.
 * @throws response_not_found
 */
export const findTurn = (uses: FindTurnUses) => {
  const { turns, findOrResumeTurn, findRun, findSession } = uses

  const requireOwn = (
    { organizationId, viewer }: TurnQuery,
    sessionId: string,
  ): Promise<SessionView> => findSession({ organizationId, viewer, sessionId }).catch(asUnknownTurn)

  const inMemory = async (query: TurnQuery, runId: string): Promise<LiveTurn | undefined> => {
    const turn = turns.find(runId)
    if (!turn) return undefined
    if (turn.organizationId !== query.organizationId) throw unknown()
    if (turn.beginning) await requireOwn(query, turn.sessionId)
    else if (!turn.requester || !isOwn(query.viewer, turn.requester)) throw unknown()
    return turn
  }

  const stored = async (query: TurnQuery, runId: string): Promise<RunView> => {
    const run = await findRun(runId)
    if (run?.organization_id !== query.organizationId) throw unknown()
    await requireOwn(query, run.session_id)
    return run
  }

  const storedEcho = async (run: RunView): Promise<string | undefined> => {
    const start = await uses.runStart(run)
    return start?.data.echo && start.key.open(start.data.echo)
  }

  /** A turn that is read back has left it to the log. */
  const echoOf = async ({ echo, beginning, runId }: LiveTurn): Promise<string | undefined> => {
    if (echo !== undefined || !beginning) return echo
    const run = await findRun(runId)
    return run && storedEcho(run)
  }

  return {
    /** Where a turn is in its session. @throws response_not_found */
    async placeOf(query: TurnQuery): Promise<TurnPlace> {
      const { runId } = query
      if (!runId) throw unknown()
      const live = await inMemory(query, runId)
      // It waits for those before it.
      if (live && !live.beginning) return { sessionId: live.sessionId, isLatest: true }
      const run = await stored(query, runId)
      const { run: latest } = await requireOwn(query, run.session_id)
      return {
        sessionId: run.session_id,
        isLatest: latest?.run_id === runId,
        lastMessageId: run.answer_id ?? run.message_id,
      }
    },
    /** @throws response_not_found */
    async find(query: TurnQuery): Promise<ViewerTurn> {
      const { runId } = query
      if (!runId) throw unknown()
      const live = await inMemory(query, runId)
      if (live) {
        const { sessionId, created } = live
        const echo = () => echoOf(live)
        return { runId, sessionId, created, turn: live, isPast: false, echo }
      }
      const run = await stored(query, runId)
      const turn = await findOrResumeTurn(runId)
      const past = {
        runId,
        sessionId: run.session_id,
        created: createdOf(runId, Date.parse(run.started_at)),
        isPast: true,
        isQueued: run.status === 'queued',
        echo: () => storedEcho(run),
      }
      return turn ? { ...past, turn } : past
    },
  }
}
export type FindTurn = ReturnType<typeof findTurn>
