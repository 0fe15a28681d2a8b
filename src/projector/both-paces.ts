import type { Position } from '../domain/event.ts'
import type { Projecting } from './projector.ts'

type Uses = {
  prompt: Projecting
  later: Projecting
  /** Whether a read model is folded later. */
  isLater(name: string): boolean
}

/**
 * The projectors of both paces as one. A wait that names no read model is for the prompt ones:
 * nobody waits for those that are folded later but who reads them.
 */
export const bothPaces = ({ prompt, later, isLater }: Uses) => {
  const paceOf = (name: string) => (isLater(name) ? later : prompt)
  return {
    at: (name: string) => paceOf(name).at(name),
    holds: (name: string) => paceOf(name).holds(name),
    state: () => [...prompt.state(), ...later.state()],
    rebuild: (...args: Parameters<Projecting['rebuild']>) => paceOf(args[0]).rebuild(...args),
    waitForPosition(
      position: Position,
      timeoutMs: number,
      views?: readonly string[],
    ): Promise<boolean> {
      if (!views) return prompt.waitForPosition(position, timeoutMs)
      const pending = views.map((name) => paceOf(name).waitForPosition(position, timeoutMs, [name]))
      return Promise.all(pending).then((passed) => passed.every(Boolean))
    },
  }
}
