import type { CancelPausedRunCommand } from '../../../commands/cancel-paused-run.ts'
import type { Call } from '../../ports/call.ts'
import type { WaitForPosition } from '../../ports/views.ts'
import type { Place } from './live-turns.ts'
import type { TurnScheduler } from './turn-scheduler.ts'

type Uses = {
  scheduler: TurnScheduler
  cancelPausedRun: CancelPausedRunCommand
  waitForPosition: WaitForPosition
}

/** The turns of this process: finds them, cancels them, and waits for them. */
export const turns = ({ scheduler, cancelPausedRun, waitForPosition }: Uses) => {
  const { live, places, drain } = scheduler

  /** See `cancel`: once more where a turn has been resumed meanwhile. */
  const cancel = async (place: Place, call: Call): Promise<boolean> => {
    const stopped = live.ofSession(place)
    for (const turn of stopped) turn.cancel()
    const outcomes = await Promise.all(stopped.map(({ outcome }) => outcome))
    const isOver = outcomes.length > 0 && outcomes.every(({ status }) => status !== 'paused')
    if (isOver) return true
    const { cancelled, position } = await cancelPausedRun(place, call)
    await waitForPosition(position)
    return cancelled || (live.ofSession(place).length > 0 && (await cancel(place, call)))
  }

  return {
    find: live.find,
    isRunning: live.isRunning,
    elapsed: live.elapsed,
    current: live.current,
    forget: live.forget,
    /** Resolves when the views show the beginning of the session's running turn. */
    async waitUntilShown(place: Place): Promise<void> {
      const position = live.current(place)?.beginning?.position
      if (position !== undefined) await waitForPosition(position)
    },
    /**
     * Cancels the running turn of a session and those behind it, or the paused one; false when
     * there is none. Resolves when their ends are stored.
     */
    cancel,
    /** See `TurnScheduler`. */
    drain,
    get running(): number {
      return live.running
    },
    /** How many background runs are queued. */
    queued: places.queued,
  }
}

export type Turns = ReturnType<typeof turns>
