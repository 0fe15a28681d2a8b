import { refusal } from '../../domain/refusal.ts'

/** How many turns of one session may wait behind the running one (docs/contract/sessions.md#one-turn-at-a-time). */
const mostWaiting = 8

/** One turn at a time per session, in the order they came. */
export const turnQueue = () => {
  /** By session with a running turn: those that wait behind it, each with what lets it run. */
  const queues = new Map<string, (() => void)[] | null>()

  return {
    /**
     * Resolves when it is the caller's turn, and is undefined when it is at once; either is to be answered by `leave`.
     * @throws session_busy when eight wait already
     */
    enter(session: string): Promise<void> | undefined {
      const waiting = queues.get(session)
      if (waiting === undefined) {
        queues.set(session, null)
        return undefined
      }
      if (waiting && waiting.length >= mostWaiting) throw refusal('session_busy')
      return new Promise((resolve) => {
        if (waiting) waiting.push(resolve)
        else queues.set(session, [resolve])
      })
    },
    leave(session: string): void {
      const next = queues.get(session)?.shift()
      if (next) next()
      else queues.delete(session)
    },
  }
}
