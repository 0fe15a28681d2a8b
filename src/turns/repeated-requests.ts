import { LRUCache } from 'lru-cache'
import type { RunView } from '../../projections/runs.ts'
import type { FindRepeatedRun } from '../../queries/find-repeated-run.ts'
import { refusal } from '../domain/refusal.ts'
import type { Clock } from '../ports/clock.ts'
import { atMost } from '../support/at-most.ts'
import type { LiveTurn } from './turn.ts'
import type { Turns } from './turns.ts'

/** How long a turn is recognised by its fingerprint. */
const recognisedMs = 600_000

/** What shows that a request repeats an earlier one. */
export type Repetition = {
  /** The run that answered the first request with this idempotency key. */
  run?: string | undefined
  /** The same for a request and its repetitions. */
  fingerprint?: string
  /** The client counts its repetitions, as stock SDKs do: its turn is recognised after a restart too. */
  counts?: boolean
  /** The client says that it is a repetition. */
  retried?: boolean
  /**
   * Set where the first request with this idempotency key was cut off: told, before the turn is answered, when that
   * request had begun it.
   */
  onRepeated?: () => void
}

type Uses = {
  turns: Pick<Turns, 'find'>
  findRun(runId: string): Promise<RunView | undefined>
  findRepeatedRun: FindRepeatedRun
  /** Whether the views show all that any process has begun by now; waits for that a moment. */
  areCaughtUp(): Promise<boolean>
  clock: Clock
}

/**
 * A stock SDK repeats a failed request unchanged, with a retry count: the repetition is answered by
 * the turn that the first request began, unless that turn failed (docs/contract/requests.md#retries-of-sdks).
 */
export const repeatedRequests = ({ turns, findRun, findRepeatedRun, areCaughtUp, clock }: Uses) => {
  const recent = new LRUCache<string, { runId: string; at: number }>(atMost(50_000))
  return {
    note(fingerprint: string, { runId }: LiveTurn): void {
      recent.set(fingerprint, { runId, at: clock.now().getTime() })
    },
    /**
     * The run that answers requests with this fingerprint, if there is one. That there is none can be said once the
     * views show what a process did that has just died. @throws service_unavailable
     */
    async runFor(fingerprint: string): Promise<string | undefined> {
      const now = clock.now()
      const noted = recent.get(fingerprint)
      const own = noted && now.getTime() - noted.at < recognisedMs ? noted.runId : undefined
      if (own && turns.find(own)) return own
      const find = async () =>
        (own && (await findRun(own))?.run_id) || (await findRepeatedRun(fingerprint, now))?.run_id
      const known = await find()
      if (known) return known
      if (!(await areCaughtUp())) throw refusal('service_unavailable')
      return find()
    },
  }
}
export type RepeatedRequests = ReturnType<typeof repeatedRequests>
