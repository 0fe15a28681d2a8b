import type { SessionView } from '../../../projections/sessions.ts'
import type { Clock } from '../../ports/clock.ts'
import { sinceStored } from '../../support/stopwatch.ts'
import type { FindOrResumeTurn } from '../../turns/resume/find-or-resume-turn.ts'
import type { Turns } from '../../turns/run/turns.ts'
import type { LiveTurn } from '../../turns/turn.ts'
import { beginning, resumed, type StreamPlace, streamPlaceOf } from './turn-frames.ts'

type Uses = {
  turns: Pick<Turns, 'current' | 'find'>
  findOrResumeTurn: FindOrResumeTurn
  clock: Clock
}

/** A turn, and the place from which a client follows it. */
export type FollowedTurn = { turn: LiveTurn; from: StreamPlace }

type Session = { organizationId: string; sessionId: string } & Pick<
  SessionView,
  'run' | 'last_update_time'
>

/**
 * How long after its end a turn can be read again
 * (docs/contract/streaming.md#following-a-turn-again).
 */
const readableMs = 600_000

/**
 * The turn of a session that a client follows again: the one that its `Last-Event-ID` names, from
 * that place, else the running turn or the last one, from its start. Undefined when nothing runs
 * and the last turn ended too long ago.
 */
export const findFollowedTurn =
  ({ turns, findOrResumeTurn, clock }: Uses) =>
  async (session: Session, lastEventId: unknown): Promise<FollowedTurn | undefined> => {
    const { organizationId, sessionId, run } = session
    const running = turns.current({ organizationId, sessionId })
    // A turn that ended here is kept equally long, by the monotonic clock.
    const isHere = running ?? (run && turns.find(run.run_id))
    if (!isHere && sinceStored(clock, session.last_update_time) >= readableMs) return undefined

    /**
     * A place in an earlier attempt is none in this one, and neither is one that the turn has not
     * come to.
     */
    const runAt = async (
      runId: string,
      place: StreamPlace,
      attempt?: number,
    ): Promise<FollowedTurn | undefined> => {
      const isOther = ({ attempt: present = 1 }: LiveTurn) =>
        attempt !== undefined && attempt !== present
      const live = turns.find(runId)
      if (live) {
        const isPlace = !isOther(live) && place.item <= live.items.end()
        return { turn: live, from: isPlace ? place : beginning }
      }
      const { had, from } = resumed(place)
      const past = await findOrResumeTurn(runId, had)
      return past && isOther(past) ? runAt(runId, beginning) : past && { turn: past, from }
    }

    const named = streamPlaceOf(lastEventId)
    const continued = named && (await runAt(named.runId, named.place, named.attempt))
    if (continued?.turn.sessionId === sessionId && continued.turn.organizationId === organizationId)
      return continued
    if (running) return { turn: running, from: beginning }
    return run ? runAt(run.run_id, beginning) : undefined
  }
