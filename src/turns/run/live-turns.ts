import { LRUCache } from 'lru-cache'
import type { Clock } from '../../ports/clock.ts'
import type { LiveTurn } from '../turn.ts'

/**
 * How long an ended turn can be read again from memory
 * (docs/contract/streaming.md#following-a-turn-again), and how much.
 */
const retentionMs = 600_000
const maxCharacters = 32_000_000

/** Whether a turn can be read again after its end; also after a refusal while it waited. */
export type Retention = boolean | 'refusal too'

/** A session. */
export type Place = { organizationId: string; sessionId: string }

export const sessionName = ({ organizationId, sessionId }: Place): string =>
  `${organizationId}/${sessionId}`

/**
 * The turns of this process: those that wait or run, and for some minutes those that have ended.
 */
export const liveTurns = ({ monotonic }: Pick<Clock, 'monotonic'>) => {
  /** Running and waiting turns, by session, in the order they came. */
  const bySession = new Map<string, LiveTurn[]>()
  const byId = new Map<string, LiveTurn>()
  const recent = new LRUCache<string, LiveTurn>({
    ttl: retentionMs,
    perf: { now: monotonic },
    maxSize: maxCharacters,
    maxEntrySize: maxCharacters,
    sizeCalculation: ({ items, echo = '' }) => 1_000 + echo.length + items.size(),
  })

  /** The session's running turn; those that wait have not begun. */
  const runningIn = (session: string): LiveTurn | undefined =>
    bySession.get(session)?.find(({ beginning }) => beginning)

  return {
    /** A turn of this session (`sessionName`) waits or runs. */
    enlist(session: string, turn: LiveTurn): void {
      const others = bySession.get(session)
      if (others) others.push(turn)
      else bySession.set(session, [turn])
      if (!byId.has(turn.runId)) byId.set(turn.runId, turn)
    },
    /** A turn has ended. */
    retire(session: string, turn: LiveTurn, keep: Retention): void {
      const left = (bySession.get(session) ?? []).filter((other) => other !== turn)
      if (left.length > 0) bySession.set(session, left)
      else bySession.delete(session)
      if (byId.get(turn.runId) === turn) {
        byId.delete(turn.runId)
        // A turn that has just paused may wait to be resumed.
        for (const next of left) if (next.runId === turn.runId) byId.set(next.runId, next)
      }
      if (keep === 'refusal too' || (keep && turn.beginning)) recent.set(turn.runId, turn)
    },
    find: (runId: string): LiveTurn | undefined => byId.get(runId) ?? recent.get(runId),
    /** Whether a turn is waiting or under way in this process. */
    isRunning: (runId: string): boolean => byId.has(runId),
    /** For how long a run of this process has been under way; undefined: none is. */
    elapsed: (runId: string): number | undefined => byId.get(runId)?.beginning?.elapsed(),
    runningIn,
    current: (place: Place): LiveTurn | undefined => runningIn(sessionName(place)),
    /** The session's running turn, then those that wait. */
    ofSession: (place: Place): LiveTurn[] => [...(bySession.get(sessionName(place)) ?? [])],
    /** All that wait or run. */
    all: (): LiveTurn[] => [...byId.values()],
    /** Forgets the session's ended turns: they can no longer be read again from memory. */
    forget(place: Place): void {
      for (const [runId, turn] of [...recent.entries()])
        if (sessionName(turn) === sessionName(place)) recent.delete(runId)
    },
    get running(): number {
      return byId.size
    },
  }
}

export type LiveTurns = ReturnType<typeof liveTurns>
