import { LRUCache } from 'lru-cache'
import type { FindRepeatedRun } from '../../queries/find-repeated-run.ts'
import type { Clock } from '../ports/clock.ts'
import type { LiveTurn } from './turn.ts'
import type { Turns } from './turns.ts'

const recognisedMs = 600_000

/** What makes a request one that came before. */
export type Repeated = {
  /** The run that the first request with this idempotency key was answered by. */
  run?: string | undefined
  /** What a stock SDK's repetition has in common with its first request. */
  fingerprint?: string | undefined
  /** It says of itself that it is a repetition. */
  retried?: boolean
}

type Uses = { turns: Turns; findRepeatedRun: FindRepeatedRun; clock: Clock }

/**
 * A stock SDK repeats a failed request as it was, with a retry count: the repetition is answered by
 * the turn that the first one began, unless that turn failed (docs/contract/requests.md#retries-of-sdks).
 */
export const repeats = ({ turns, findRepeatedRun, clock }: Uses) => {
  const recent = new LRUCache<string, { runId: string; at: number }>({ max: 50_000 })
  return {
    note(fingerprint: string, { runId }: LiveTurn): void {
      recent.set(fingerprint, { runId, at: clock.now().getTime() })
    },
    /** The run that answers a request with this fingerprint already. */
    async before(fingerprint: string): Promise<string | undefined> {
      const now = clock.now()
      const noted = recent.get(fingerprint)
      const turn =
        noted && now.getTime() - noted.at < recognisedMs ? turns.find(noted.runId) : undefined
      return turn?.runId ?? (await findRepeatedRun(fingerprint, now))?.run_id
    },
  }
}
export type Repeats = ReturnType<typeof repeats>
