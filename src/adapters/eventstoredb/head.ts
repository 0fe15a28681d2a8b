import { START } from '../../ports/event-store.ts'
import { placeOf } from './events.ts'
import type { Reads } from './reads.ts'
import type { Sieve } from './strangers.ts'

/**
 * The last event of ours, beside others who write a lot: nothing is read back further than to
 * where it was known before.
 */
export const headOf = ({ backwards }: Reads, ours: Sieve) => {
  let last = START
  let knownTo = START

  /** There is nothing of ours after `event` up to a position. */
  const passed = (event: number, position: number): void => {
    if (position <= knownTo) return
    last = event
    knownTo = position
  }

  const head = async (): Promise<number> => {
    let end: number | undefined
    for await (const batch of backwards()) {
      for (const resolved of batch) {
        const position = placeOf(resolved)
        end ??= position
        if (position <= knownTo) {
          passed(last, end)
          return last
        }
        const [found] = ours([resolved])
        if (!found) continue
        passed(found.position, end)
        return found.position
      }
    }
    return last
  }

  return { head, passed }
}
