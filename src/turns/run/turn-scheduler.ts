import { Subject } from 'rxjs'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import { liveTurns } from './live-turns.ts'
import { type RunPlace, runPlaces } from './run-places.ts'
import { sessionQueue } from './session-queue.ts'
import { type Control, trackTurn } from './track-turn.ts'

type Uses = { clock: Clock; log: Pick<Log, 'error'> }

/**
 * The turns of this process: one at a time in a session, as many at once of a payer as its plan
 * allows, each run once however many clients follow it.
 */
export const turnScheduler = ({ clock, log }: Uses) => {
  const live = liveTurns(clock)
  const places = runPlaces(clock)
  const queue = sessionQueue()
  const resumable = new Subject<string>()
  let stopping = false

  return {
    live,
    places,
    /** Follows a turn to its end, for all who ask for it. */
    track: trackTurn({ live, resumable, log }),
    /** Runs `work` when the session has no other turn, and gives the place back after it. */
    async runInOrder<T>(
      session: string,
      control: Control,
      place: RunPlace,
      work: () => Promise<T>,
    ): Promise<T> {
      control.place = place
      try {
        return await queue.run(session, work)
      } finally {
        place.leave()
      }
    },
    /** Runs that paused for a decision that was there already: they are to be resumed. */
    resumable: resumable.asObservable(),
    /** A turn that begins while the process stops is left to another one. */
    isStopping: (): boolean => stopping,
    /**
     * For a shutdown: lets turns end, and leaves those that take longer to another process. Waiting
     * turns are refused. Resolves when all is stored.
     */
    async drain(withinMs: number): Promise<void> {
      places.abandonQueued()
      const running = live.all()
      const timer = setTimeout(() => {
        stopping = true
        for (const turn of running) turn.handOver?.()
      }, withinMs)
      await Promise.all(running.map(({ outcome }) => outcome))
      clearTimeout(timer)
    },
  }
}

export type TurnScheduler = ReturnType<typeof turnScheduler>
