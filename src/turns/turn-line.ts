import { refusal } from '../domain/refusal.ts'

/** How many turns of one session may wait behind the running one (docs/contract/sessions.md#one-turn-at-a-time). */
const longest = 8

type Place = { enter(): void; leave(): void }

/**
 * One turn at a time per session, in the order they came. `enter` resolves when it is the caller's
 * turn and must be answered by `leave`. @throws session_busy when eight wait already.
 */
export const turnLine = () => {
  const lines = new Map<string, Place[]>()

  const leave = (session: string, place: Place) => {
    const line = lines.get(session) ?? []
    const running = line[0] === place
    line.splice(line.indexOf(place), 1)
    if (line.length === 0) lines.delete(session)
    else if (running) line[0]?.enter()
  }

  return {
    async enter(session: string): Promise<() => void> {
      const line = lines.get(session)
      if (!line) {
        const place: Place = { enter: () => undefined, leave: () => leave(session, place) }
        lines.set(session, [place])
        return place.leave
      }
      if (line.length > longest) throw refusal('session_busy')
      return new Promise((resolve) => {
        const place: Place = {
          enter: () => resolve(place.leave),
          leave: () => leave(session, place),
        }
        line.push(place)
      })
    },
  }
}
