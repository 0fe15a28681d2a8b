import type { RecordedEvent } from '../../ports/event-store.ts'
import { isIn, isOurs, type Resolved, recorded } from './events.ts'
import type { Namespace } from './namespace.ts'

/** An event in our namespace that this application did not write. */
export type ForeignEvent = { stream: string; revision: number; type: string; id: string }

export type OnForeign = (foreign: ForeignEvent) => void

/** How many are remembered, to tell of each but once. */
const remembered = 10_000

/** Keeps our events of what was read, and tells of each foreign event in our namespace once. */
export const ownEvents = (namespace: Namespace, onForeign: OnForeign = () => undefined) => {
  const told = new Set<string>()

  const tell = ({ event }: Resolved) => {
    if (!event) return
    const { streamId: stream, revision, type, id } = event
    const place = `${revision}@${stream}`
    if (told.has(place)) return
    const [first] = told
    if (told.size >= remembered && first !== undefined) told.delete(first)
    told.add(place)
    onForeign({ stream, revision: Number(revision), type, id })
  }

  return (events: readonly Resolved[]): RecordedEvent[] => {
    const kept: RecordedEvent[] = []
    for (const event of events) {
      if (!isIn(namespace, event)) continue
      if (isOurs(event)) kept.push(recorded(namespace, event))
      else tell(event)
    }
    return kept
  }
}

export type OwnEvents = ReturnType<typeof ownEvents>
