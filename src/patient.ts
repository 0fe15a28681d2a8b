import { setTimeout as pause } from 'node:timers/promises'
import { commitsOf, type Outcome, type Sink } from './batch.ts'
import { StoreDamaged, StoreUnavailable } from './ports/event-store.ts'
import type { Log } from './ports/log.ts'
import { CheckpointMoved, type Views } from './ports/views.ts'

/** The right to write views ran out in the middle of a batch; nothing of the batch was written. */
class TermOver extends Error {
  override readonly name = 'TermOver'
}

/** Errors that end a spell: what is folded has to be folded again from the stored checkpoints. */
const endsSpell = (error: unknown): boolean =>
  error instanceof TermOver || error instanceof CheckpointMoved

/** A spell in which this process writes views. */
export type Spell = {
  views: Views
  /** Whether it may, still. */
  held: () => boolean
  log: Log
  /** Ends the spell; a batch in hand is finished unless the views are out of reach. */
  signal: AbortSignal
}

/** Milliseconds before the next try. */
export const backOff = (attempt: number) => Math.min(5_000, 50 * 2 ** attempt)
/** What is no matter of being out of reach is tried this often, in case it is one after all. */
const maxAttempts = 5

/** The views, tried again with back-off while they are out of reach and the term lasts. */
export const patient = ({ views, held, log, signal }: Spell): Sink => {
  const until = async <T>(work: () => Promise<T>): Promise<T> => {
    for (let attempt = 1; ; attempt++)
      try {
        return await work()
      } catch (err) {
        if (signal.aborted || !held() || endsSpell(err) || err instanceof StoreDamaged) throw err
        if (!(err instanceof StoreUnavailable) && attempt >= maxAttempts) throw err
        log.warn({ err, attempt }, 'the views are out of reach, trying again')
        await pause(backOff(attempt), undefined, { signal }).catch(() => undefined)
      }
  }
  return {
    load: (view, ids) => until(() => views.load(view, ids)),
    idsOf: (view, index, equals) => until(() => views.idsOf(view, index, equals)),
    commit: (commits) =>
      until(async () => {
        if (!held()) throw new TermOver()
        await views.commit(commits)
      }),
  }
}

/** Stores what a batch came to. What cannot be stored for one projection ends that one. */
export const committed = async (
  sink: Sink,
  outcomes: readonly Outcome[],
): Promise<readonly Outcome[]> => {
  try {
    if (outcomes.length > 0) await sink.commit(commitsOf(outcomes))
    return outcomes
  } catch (error) {
    if (endsSpell(error) || error instanceof StoreUnavailable) throw error
    const [{ lane } = {}, ...others] = outcomes
    if (lane && others.length === 0) return [{ lane, changes: [], position: lane.position, error }]
    const each: Outcome[] = []
    for (const one of outcomes) each.push(...(await committed(sink, [one])))
    return each
  }
}
