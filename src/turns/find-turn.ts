import type { RunView } from '../../projections/runs.ts'
import type { SessionView } from '../../projections/sessions.ts'
import type { FindSession } from '../../queries/find-session.ts'
import { Refusal, refusal } from '../domain/refusal.ts'
import { isOwn, type Viewer } from '../domain/session/viewer.ts'
import type { PastTurn } from './past-turn.ts'
import type { LiveTurn } from './turn.ts'
import type { Turns } from './turns.ts'

export type FindTurnUses = {
  turns: Pick<Turns, 'find'>
  pastTurn: PastTurn
  findRun(runId: string): Promise<RunView | undefined>
  findSession: FindSession
}

export type OneTurn = { organizationId: string; viewer: Viewer; runId: string | undefined }

/** A turn of a session that is the viewer's. */
export type FoundTurn = {
  runId: string
  sessionId: string
  /** Unix seconds. */
  created: number
  /** Absent while it runs in another process, or is queued there. */
  turn?: LiveTurn
  isQueued?: boolean
  /** It is told from what is stored. */
  isPast: boolean
}

type FoundPlace = {
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
export const findTurn = ({ turns, pastTurn, findRun, findSession }: FindTurnUses) => {
  const requireOwn = (
    { organizationId, viewer }: OneTurn,
    sessionId: string,
  ): Promise<SessionView> => findSession({ organizationId, viewer, sessionId }).catch(asUnknownTurn)

  const inMemory = async (one: OneTurn, runId: string): Promise<LiveTurn | undefined> => {
    const turn = turns.find(runId)
    if (!turn) return undefined
    if (turn.organizationId !== one.organizationId) throw unknown()
    if (turn.begun) await requireOwn(one, turn.sessionId)
    else if (!turn.askedBy || !isOwn(one.viewer, turn.askedBy)) throw unknown()
    return turn
  }

  const stored = async (one: OneTurn, runId: string): Promise<RunView> => {
    const run = await findRun(runId)
    if (run?.organization_id !== one.organizationId) throw unknown()
    await requireOwn(one, run.session_id)
    return run
  }

  return {
    /** Where a turn is in its session. @throws response_not_found */
    async placeOf(one: OneTurn): Promise<FoundPlace> {
      const { runId } = one
      if (!runId) throw unknown()
      const live = await inMemory(one, runId)
      // It waits for those before it.
      if (live && !live.begun) return { sessionId: live.sessionId, isLatest: true }
      const run = await stored(one, runId)
      const { run: latest } = await requireOwn(one, run.session_id)
      return {
        sessionId: run.session_id,
        isLatest: latest?.run_id === runId,
        lastMessageId: run.answer_id ?? run.message_id,
      }
    },
    /** @throws response_not_found */
    async find(one: OneTurn): Promise<FoundTurn> {
      const { runId } = one
      if (!runId) throw unknown()
      const live = await inMemory(one, runId)
      if (live) {
        const { sessionId, created } = live
        return { runId, sessionId, created, turn: live, isPast: false }
      }
      const { session_id: sessionId, started_at, status } = await stored(one, runId)
      const turn = await pastTurn(runId, { items: 0, characters: 0 })
      const created = Math.floor(Date.parse(started_at) / 1000)
      const found = { runId, sessionId, created, isPast: true, isQueued: status === 'queued' }
      return turn ? { ...found, turn } : found
    },
  }
}
export type FindTurn = ReturnType<typeof findTurn>
