import { refusal } from '../domain/refusal.ts'

/** How many turns of one session may wait behind the running one (docs/contract/sessions.md#one-turn-at-a-time). */
const mostWaiting = 8

type Place = { enter(): void; leave(): void }

/**
 * One turn at a time per session, in the order they came. `enter` resolves when it is the caller's
 * turn and must be answered by `leave`. @throws session_busy when eight wait already.
 */
export const turnQueue = () => {
  /** By session; the first place is the running turn's. */
  const queues = new Map<string, Place[]>()

  const leave = (session: string, place: Place) => {
    const queue = queues.get(session) ?? []
    const wasRunning = queue[0] === place
    queue.splice(queue.indexOf(place), 1)
    if (queue.length === 0) queues.delete(session)
    else if (wasRunning) queue[0]?.enter()
  }

  return {
    async enter(session: string): Promise<() => void> {
      const queue = queues.get(session)
      if (!queue) {
        const place: Place = { enter: () => undefined, leave: () => leave(session, place) }
        queues.set(session, [place])
        return place.leave
      }
      if (queue.length > mostWaiting) throw refusal('session_busy')
      return new Promise((resolve) => {
        const place: Place = {
          enter: () => resolve(place.leave),
          leave: () => leave(session, place),
        }
        queue.push(place)
      })
    },
  }
}
