import { refusal } from '../../domain/refusal.ts'

/**
 * How many turns of one session may wait behind the running one
 * (docs/contract/sessions.md#one-turn-at-a-time).
 */
const mostWaiting = 8

/** One turn at a time per session, in order of arrival. */
export const sessionQueue = () => {
  /** By session with a running turn: the turns behind it, each with what starts it. */
  const queues = new Map<string, (() => void)[] | null>()

  const enter = async (session: string): Promise<void> => {
    const waiting = queues.get(session)
    if (waiting === undefined) {
      queues.set(session, null)
      return
    }
    if (waiting && waiting.length >= mostWaiting) throw refusal('session_busy')
    await new Promise<void>((resolve) => {
      if (waiting) waiting.push(resolve)
      else queues.set(session, [resolve])
    })
  }

  const leave = (session: string): void => {
    const next = queues.get(session)?.shift()
    if (next) next()
    else queues.delete(session)
  }

  return {
    /** @throws session_busy when eight turns wait already */
    async run<T>(session: string, work: () => Promise<T>): Promise<T> {
      await enter(session)
      try {
        return await work()
      } finally {
        leave(session)
      }
    },
  }
}
