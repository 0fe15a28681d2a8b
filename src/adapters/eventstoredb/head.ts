import type { Position } from '../../domain/event.ts'
import { START } from '../../ports/event-store.ts'
import { placeOf } from './events.ts'
import type { OwnEvents } from './own-events.ts'
import type { Reads } from './reads.ts'

/** A server sends ahead of who reads: it is asked for no more than is needed most of the time. */
const few = 32

/**
 * The last event of ours, beside others who write a lot: nothing is read back further than to
 * where it was known before.
 */
export const headOf = ({ backwards }: Reads, ours: OwnEvents) => {
  let last = START
  let knownTo = START

  /** There is nothing of ours after `event` and before a position. */
  const passed = (event: Position, position: Position): void => {
    if (position <= knownTo) return
    last = event
    knownTo = position
  }

  /** Undefined when it is not among so many of the last events. */
  const among = async (maxCount?: number): Promise<Position | undefined> => {
    let end: Position | undefined
    for await (const batch of backwards(maxCount))
      for (const resolved of batch) {
        const position = placeOf(resolved)
        end ??= position
        // What stands at `knownTo` itself may have come after it was said.
        const [event] = position >= knownTo ? ours([resolved]) : []
        if (position >= knownTo && !event) continue
        passed(event?.position ?? last, end)
        return last
      }
    if (maxCount === undefined && end !== undefined) passed(START, end)
    return undefined
  }

  const head = async (): Promise<Position> => (await among(few)) ?? (await among()) ?? START

  /** The last event of all, ours or not. */
  const end = async (): Promise<Position> => {
    for await (const [last] of backwards(1)) return placeOf(last)
    return START
  }

  return { head, end, passed }
}
